"""The launcher: real PostgreSQL and Valkey from wheels, and everything that runs on them on one machine.

It imports none of the site's packages: it starts them as processes, with an environment.
"""
