"""Files that follow their secrets."""
