"""`nemutator explain`: how the advice on a workload comes about."""
