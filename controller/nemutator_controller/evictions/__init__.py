"""Evicts pods that want to be made anew when their secrets have changed."""
