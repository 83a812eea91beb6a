"""Alerts: a tenant's rules, and the alerts that they found."""
