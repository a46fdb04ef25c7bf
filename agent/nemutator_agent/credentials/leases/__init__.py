"""Secrets that Vault lends: held for the pod that reads them, renewed, and replaced before they end."""
