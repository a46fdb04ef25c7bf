"""`nemutator backup` and `nemutator restore`: what a brain knows in one file, and back on any machine."""
