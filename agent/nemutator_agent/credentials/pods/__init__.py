"""In a cluster: a socket for each pod, and what it declares, from Vault."""
