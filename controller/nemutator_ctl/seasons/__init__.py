"""`nemutator seasons`: when workloads are busy, and what is in force then."""
