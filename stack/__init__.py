"""The launcher: PostgreSQL and Valkey from Python wheels, and all programs of the site, on one machine.

It imports none of the site's packages: it starts them as processes, with an environment.
"""
