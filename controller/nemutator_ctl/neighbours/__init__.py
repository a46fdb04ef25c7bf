"""`nemutator neighbours`: who suffers from whom on its node, and how much."""
