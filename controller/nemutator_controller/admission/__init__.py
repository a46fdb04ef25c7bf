"""What the API server asks before a pod is made. It is decided from memory, and recorded before the response."""
