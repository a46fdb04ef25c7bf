"""`nemutator flame`: profiles from files, as one."""
