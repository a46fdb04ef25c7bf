"""The brain's memory on disk: one file, one thread that writes it, a few that read it."""
