"""`nemutator nodes`: what nodes can take, what is requested of them, and what they use."""
