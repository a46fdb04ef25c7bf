"""What every container used: the last hours, a day, and a usual week."""
