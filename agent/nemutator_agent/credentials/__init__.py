"""Gives secrets to whoever may have them, and to nobody else."""
