"""What each container has used, as histograms, and how large that says it should be."""
