"""The brain's database: one file, which one thread writes and a few threads read."""
