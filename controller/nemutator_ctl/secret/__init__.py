"""`nemutator secret`: the secrets of a machine without Vault."""
