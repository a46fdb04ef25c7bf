"""What nemutator writes on nodes: taints by pressure, of a reserve and of nodes that are emptied, and grades for placement."""
