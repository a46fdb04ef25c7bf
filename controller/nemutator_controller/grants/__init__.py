"""Who was granted what: audit records of the nodes, and the Vault tokens that live by them."""
