"""`nemutator sizing`: what SizingPolicies have made of pods that run."""
