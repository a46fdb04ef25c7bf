"""From addresses to names: what a stranger's executable says, read in a worker without privileges."""
