"""The activity log: its tables, reading and search, what is missing from it, and its lists and filters for pages."""
