"""Shared parts that know nothing of access control: pages, files, timers, stored files, restored databases."""
