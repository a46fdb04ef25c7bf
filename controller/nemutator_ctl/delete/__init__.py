"""`nemutator delete`: removes what was applied where there is no cluster."""
