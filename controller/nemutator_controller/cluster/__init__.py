"""What is known of every node now, from the last report of each."""
