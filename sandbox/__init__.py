"""The access-control service's development environment, on your own machine.

It is a separate Django project. It imports only `accessapi` (operations, limits, shapes) and keeps everything in its
own PostgreSQL database. The portal reaches it over HTTP like the real service.
"""
