"""Notifications of alerts to people and web addresses, each sent once."""
