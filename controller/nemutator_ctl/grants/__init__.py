"""`nemutator grants`: who was given what, and who has read a path."""
