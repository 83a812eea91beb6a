"""What rights are to people: as words, as weeks, as sheets to fill in, and as templates to choose from."""
