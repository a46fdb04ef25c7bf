"""`nemutator topology`: what runs here and what it uses, as the brain knows it."""
