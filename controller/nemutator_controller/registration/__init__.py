"""The installation's own certificate authority, and what Kubernetes has to know of it."""
