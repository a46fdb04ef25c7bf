"""`nemutator policy`: tries policies on manifests, without a server."""
