"""Reads in registries what images start by themselves."""
