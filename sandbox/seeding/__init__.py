"""Deterministic data: the same seed gives the same tenants, people and places."""
