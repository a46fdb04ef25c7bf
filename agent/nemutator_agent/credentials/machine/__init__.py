"""Without a cluster: one socket for all callers of a machine, and a sealed file of secrets."""
