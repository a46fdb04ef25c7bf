"""The CSI node driver: gives each pod that asks a directory of its own, and tells credentials.

Kubelet says which pod it is, what it declares, and hands over its token; the pod's socket is made
by the credentials process. This process alone may mount, so it does nothing else: no network, no
Vault, and no token outlives it.
"""
