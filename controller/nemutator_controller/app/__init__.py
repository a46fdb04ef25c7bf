"""Wires the processes of the controller, one file for each: the only ones that know everybody."""
