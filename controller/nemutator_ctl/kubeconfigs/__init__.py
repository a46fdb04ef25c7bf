"""A cluster's API server by a kubeconfig: who it is, who asks, and a connection to a port of a pod."""
