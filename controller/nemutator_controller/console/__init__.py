"""The page that people see, and the ways to sign in to it."""
