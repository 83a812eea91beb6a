"""Injected faults: the control API adds one, and the next calls get it."""
