"""`nemutator mutations`: what was changed, by whom, and what has become of it."""
