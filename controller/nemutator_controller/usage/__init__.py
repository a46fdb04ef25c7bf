"""What the machines used, over time."""
