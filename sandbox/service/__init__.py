"""What the sandbox keeps: tenants, people, places, requests and its own records, all in PostgreSQL."""
