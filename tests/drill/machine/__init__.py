"""A package, so that its machines end with the last test that needs them."""
