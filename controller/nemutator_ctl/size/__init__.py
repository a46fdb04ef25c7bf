"""`nemutator size`: what is advised, given to a unit of systemd."""
