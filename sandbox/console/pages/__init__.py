"""The console at /console/, for people: each tenant's building, the added faults, and its clock.

Pages decide nothing: they show the engine's data and call it. Everything works with plain forms; the script only
reloads the live parts.
"""
