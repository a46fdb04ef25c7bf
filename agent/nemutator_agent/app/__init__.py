"""Wires the processes of the agent, one file for each: the only ones that know everybody."""
