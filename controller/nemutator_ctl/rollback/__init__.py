"""`nemutator rollback`: takes a mutation back, after it has said what that will do."""
