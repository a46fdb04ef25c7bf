"""The history of other clusters on the same PostgreSQL, as their brains have saved it."""
