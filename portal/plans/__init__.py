"""Floor plans: a picture of each floor, with its doors, key boxes and cameras on it as they stand now."""
