"""Template tags of the log's pages."""
