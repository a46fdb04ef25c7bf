"""Several clusters on one PostgreSQL: each publishes its inventory once a minute, and shows those of the others."""
