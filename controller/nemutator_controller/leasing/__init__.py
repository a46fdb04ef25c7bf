"""Which brain of a cluster leads: it alone does what several would do twice."""
