"""Wires the processes of the agent, a file for each: only these import all features."""
