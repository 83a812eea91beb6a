"""The sandbox's tables: tenants, people, places, requests and its own records, in PostgreSQL."""
