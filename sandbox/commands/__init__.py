"""The command line: `manage.py serve`, `seed` and `describe`, and what `serve` runs beside the application."""
