"""Neighbours: which pods suffer when which others on their node are busy."""
