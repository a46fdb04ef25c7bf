"""What was changed, and how it is taken back."""
