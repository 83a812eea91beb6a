"""Areas, doors, key boxes and their keys: the tables, queries, and the states of doors and keys."""
