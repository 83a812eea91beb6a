"""Restored databases. Their data is outdated, so automatic work is paused until a person releases it."""
