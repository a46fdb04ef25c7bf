"""How every process of ours serves HTTP: caps, deadlines, TLS, health, metrics, orderly drain."""
