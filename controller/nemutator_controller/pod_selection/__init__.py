"""Which labels workloads do not want on their pods."""
