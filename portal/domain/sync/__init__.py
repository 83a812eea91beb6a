"""The local copy of the service's data, for searching: sync, freshness, single reads and the portal's own writes."""
