"""Large contents outside of the database, where the team keeps such things."""
