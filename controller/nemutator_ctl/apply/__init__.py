"""`nemutator apply`: policies and manifests, where there is no cluster."""
