"""Ways to choose a request from what was used, side by side: others' and our own, on the same recorded use."""
