"""Whose data it is, and who may touch it: tenants, staff, roles, connections, vault, support sessions, audit."""
