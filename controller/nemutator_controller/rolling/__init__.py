"""Rolls workloads slowly: one pod at a time, in a time window, and no further than the first that fails."""
