"""Which pods the quiet windows of agents may look at."""
