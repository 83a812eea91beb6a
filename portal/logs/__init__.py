"""The activity log: what happened in the building, found again."""
