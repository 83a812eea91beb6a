"""The control API under /console/api/: for tests and demonstrations, on the loopback only."""
