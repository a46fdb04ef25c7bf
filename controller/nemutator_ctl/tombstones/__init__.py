"""`nemutator tombstones`: what stays taken back."""
