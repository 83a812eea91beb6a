"""Django's PostgreSQL backend, which sets the current tenant on each connection before any statement."""
