"""What whoever helps needs to see of an installation, and nothing that is a secret."""
