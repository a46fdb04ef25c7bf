"""CPU of nodes that is sold more than once: how much of it is safe, and how it comes to stand on a node."""
