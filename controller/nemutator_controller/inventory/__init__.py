"""What the cluster has, asks for and uses: nodes, workloads, and who talks to whom."""
