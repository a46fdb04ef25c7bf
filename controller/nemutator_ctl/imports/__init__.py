"""`nemutator import`: from objects of others to ours, and what differs."""
