"""Numbered records to the brain: bounded, retried, resumable; whoever makes them never waits."""
