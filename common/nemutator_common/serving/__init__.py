"""How our processes serve HTTP: with caps, deadlines, TLS, health, metrics and an orderly drain."""
