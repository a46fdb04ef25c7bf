"""Where placeholders get their values: a file, or Redis. The brain reads, admission asks the brain."""
