"""`nemutator exec`: a command that finds secrets of this machine in its environment."""
