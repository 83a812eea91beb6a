"""Members, groups and guests: tables, descriptions of their fields, queries and the search."""
