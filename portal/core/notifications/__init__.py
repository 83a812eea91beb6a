"""Telling people and web addresses of alerts: each once."""
