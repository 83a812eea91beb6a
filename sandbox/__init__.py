"""The access-control service on your own machine: its development environment.

A Django project of its own. It imports only accessapi (operations, limits, shapes) and keeps everything in its own
PostgreSQL database; the portal reaches it over HTTP like the real service.
"""
