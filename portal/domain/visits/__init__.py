"""Visits: who comes when, to which host, and the status of each visit. Visits outlive the service's guests."""
