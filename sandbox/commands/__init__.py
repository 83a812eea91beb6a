"""The command line: `manage.py serve`, `seed` and `describe`, and the worker and startup code of `serve`."""
