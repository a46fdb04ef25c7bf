"""Use that others have recorded: how it is asked for, whose it is, and how it is learned."""
