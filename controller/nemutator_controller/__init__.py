"""The controller: what runs once per cluster (or once per laptop) and sees every node."""
