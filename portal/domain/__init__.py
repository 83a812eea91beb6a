"""Access control as several areas of work use it: models, rules and fragments of pages, but no whole pages."""
