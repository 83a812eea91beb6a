"""Reading the service's data into the tables: schedule, lists, single reads, freshness, and the portal's own writes."""
