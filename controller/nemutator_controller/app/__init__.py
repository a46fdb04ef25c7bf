"""Wires the processes of the controller: only these files know all features."""
