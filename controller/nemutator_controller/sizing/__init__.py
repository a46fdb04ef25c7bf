"""What each container has used, as histograms, and how large it should be by that."""
