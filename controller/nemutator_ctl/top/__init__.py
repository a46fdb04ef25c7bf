"""`nemutator top`: the workloads or nodes that use most now."""
