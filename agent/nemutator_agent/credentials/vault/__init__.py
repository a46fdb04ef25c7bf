"""Vault, asked in the name of pods: logins, leases, a cache, and the ledger of live tokens."""
