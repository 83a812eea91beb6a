"""Shared parts that know nothing of access control: pages, files, timers, restored databases."""
