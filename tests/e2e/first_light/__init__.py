"""A package, so that its installation ends with the last of its tests."""
