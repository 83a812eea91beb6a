"""Django's PostgreSQL backend, which tells each connection the tenant before it runs anything."""
