"""Keys and key boxes as every page words them."""
