"""Policies that people read, try on what runs now, and change."""
