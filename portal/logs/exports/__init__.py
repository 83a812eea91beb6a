"""Exports of the log: files of any length, written by a worker and kept for a week."""
