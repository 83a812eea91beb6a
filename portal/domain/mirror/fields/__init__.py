"""Descriptions of the service's fields of members, guests and groups, one for each field."""
