"""The console at /console/: the house of each tenant, the faults asked for, and its clock, for people.

Pages decide nothing: they show what the engine holds and call it. Everything works as plain forms; the script only
fetches the live parts again.
"""
