"""`nemutator buffers`: how much room is kept free, and why."""
