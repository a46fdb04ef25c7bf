"""How workloads age: what grows from day to day, how fast, and in which line."""
