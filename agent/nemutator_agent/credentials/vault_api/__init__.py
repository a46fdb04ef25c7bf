"""Vault's own API on a pod's socket: its clients work there without a token, as the pod."""
