"""Bulk changes of members: suspend, resume, extend, move, change rights, delete; with preview and undo."""
