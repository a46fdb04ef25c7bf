"""Signals for the processes of pods whose secrets have changed."""
