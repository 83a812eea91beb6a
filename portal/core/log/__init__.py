"""The log as pages of several areas of work share it."""
