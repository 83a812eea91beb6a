"""States of keys and key boxes in words."""
