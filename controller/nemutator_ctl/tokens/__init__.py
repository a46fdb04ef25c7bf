"""`nemutator token`: the values of placeholders."""
