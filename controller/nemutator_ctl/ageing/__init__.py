"""`nemutator ageing`: what grows with age, how fast, and in which line."""
