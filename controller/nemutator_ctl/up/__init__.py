"""`nemutator up`: the processes of one machine, kept running by one that does nothing else."""
