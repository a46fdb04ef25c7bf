"""`nemutator history`: what a workload used, and its usual week."""
