"""`nemutator evict`: ends pods within budgets, so that their workloads make others."""
