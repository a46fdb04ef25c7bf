"""Requests of CPU that follow use hour by hour, for containers of workloads that a policy wants them for."""
