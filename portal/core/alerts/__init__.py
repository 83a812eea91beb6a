"""Alerts: rules that a tenant keeps, and what they found."""
