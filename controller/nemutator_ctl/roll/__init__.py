"""`nemutator roll`: makes a workload's pods anew, one at a time."""
