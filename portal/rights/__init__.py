"""Access rights of members: drawn as a week, edited, saved as templates, and compared."""
