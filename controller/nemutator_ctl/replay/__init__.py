"""`nemutator replay`: what strategies would have requested, on use that was recorded."""
