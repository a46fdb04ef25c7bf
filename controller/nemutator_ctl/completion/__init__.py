"""What a shell offers to complete a command line of `nemutator`."""
