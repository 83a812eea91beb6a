"""Visits: who comes when, to whom, and where each of them stands. They outlive the service's guests."""
