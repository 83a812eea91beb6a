"""Exports of the log: files of any length, written by a worker and stored for a week."""
