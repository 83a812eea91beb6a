"""Members, groups and guests: the tables, the descriptions of fields, queries and the search."""
