"""`nemutator missed`: pods that run without what admission would have done to them."""
