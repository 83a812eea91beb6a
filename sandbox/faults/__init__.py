"""Faults on demand: somebody asks for one through the control API, and the next calls meet it."""
