"""`nemutator packing`: which nodes could be emptied, and why the others not."""
