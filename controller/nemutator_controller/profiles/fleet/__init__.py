"""Profiles of other clusters on the same PostgreSQL."""
