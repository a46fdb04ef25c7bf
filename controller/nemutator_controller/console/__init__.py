"""The page that people see, and the ways in to it."""
