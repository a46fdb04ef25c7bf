"""`nemutator workloads`: what there is, what it asks for, uses and wastes."""
