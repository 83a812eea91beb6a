"""Long jobs: rows that are previewed, sent in bulk or one by one, and shown with their outcomes."""
