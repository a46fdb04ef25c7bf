"""What the API server asks before a pod is made: decided from memory, recorded before the answer."""
