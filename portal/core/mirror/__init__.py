"""What the service holds, kept close enough to search: sync, freshness, single reads, our own writes."""
