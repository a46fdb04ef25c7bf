"""Secrets that change: who is notified of a new version, and how."""
