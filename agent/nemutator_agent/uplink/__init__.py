"""To the brain: bounded, retried, resumable; it never makes a feature wait."""
