"""Nodes that can be emptied off-peak, emptied by evictions within their budgets, and named for who removes nodes."""
