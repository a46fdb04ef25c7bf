"""`nemutator rollback`: takes a mutation back, after showing what that will do."""
