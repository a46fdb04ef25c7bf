"""A package, so that pytest ends its brain after the last test of this folder: one that goes on
writes on the policies of others."""
