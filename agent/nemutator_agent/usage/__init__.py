"""What runs on this machine and what it uses: cgroups, processes, pressure."""
