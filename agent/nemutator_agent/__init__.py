"""The node agent: what runs on every node, in small processes with the least rights each needs."""
