"""Secrets that Vault lends: held for the pod that reads them, renewed, replaced in time."""
