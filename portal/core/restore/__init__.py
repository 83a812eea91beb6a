"""A database that was restored from a backup is older than the world: it must not act by itself on what it knows."""
