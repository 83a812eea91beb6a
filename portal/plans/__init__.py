"""Floor plans: a picture of each floor that shows its doors, key boxes and cameras with their present state."""
