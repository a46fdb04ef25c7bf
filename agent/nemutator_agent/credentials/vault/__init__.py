"""Vault, asked in the name of pods: logins, leases, what is cached, and the ledger of live tokens."""
