"""Where processes of this machine spend their CPU time: sampled, named, sent to the brain."""
