"""The Kubernetes API: a client and an informer that hold 150 000 pods in a few hundred megabytes."""
