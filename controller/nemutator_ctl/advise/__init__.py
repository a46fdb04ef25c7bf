"""`nemutator advise`: how large containers should be, or why that cannot be said yet."""
