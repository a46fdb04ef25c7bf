"""`nemutator diff`: what two profiles differ in."""
