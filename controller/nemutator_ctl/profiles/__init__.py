"""`nemutator profile`: asks for a profile, waits for it, and says what was found."""
