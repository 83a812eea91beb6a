"""The activity log: search, details, days, saved searches and exports."""
