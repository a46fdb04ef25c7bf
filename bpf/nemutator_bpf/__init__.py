"""The BPF programs: their sources, and what the recorded compiler made of them."""
