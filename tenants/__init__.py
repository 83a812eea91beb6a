"""Tenants, staff, roles, connections, secrets (the vault), support sessions and the audit log."""
