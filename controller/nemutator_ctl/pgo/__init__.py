"""`nemutator pgo`: what a workload has done with its CPU, for the Go compiler."""
