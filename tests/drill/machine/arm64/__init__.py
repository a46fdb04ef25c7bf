"""A package, so that its guest ends with the last of its tests."""
