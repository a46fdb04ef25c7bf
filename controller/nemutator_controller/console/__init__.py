"""What people see: the page, the API under it, and who may open them."""
