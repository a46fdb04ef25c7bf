"""`nemutator oversell`: how much CPU of nodes is oversold or could be."""
