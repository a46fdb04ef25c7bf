"""Reads in registries what images start by themselves, and which digests their tags name."""
