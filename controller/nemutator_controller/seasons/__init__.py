"""Seasons: when workloads and the cluster are busy, what the next day will be like, and what is in force then."""
