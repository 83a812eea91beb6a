"""The access check: why a person has access to a place at a moment, or has not."""
