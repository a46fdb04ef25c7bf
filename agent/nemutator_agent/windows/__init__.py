"""Quiet windows: Go processes that have run for long are looked at without being asked."""
