"""Fetches what a pod declares before its application starts. Standard library only."""
