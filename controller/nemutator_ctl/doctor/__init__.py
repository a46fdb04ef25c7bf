"""`nemutator doctor`: what this machine gives, what is lost without the rest, and the remedy."""
