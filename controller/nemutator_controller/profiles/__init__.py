"""Profiles: people and pods ask for them, agents make them, the brain keeps and shows them."""
