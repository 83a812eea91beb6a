"""Django's PostgreSQL backend, telling each connection the tenant before it runs anything."""
