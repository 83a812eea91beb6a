"""Many members at once: suspend, resume, extend, move, change rights, delete; with preview and undo."""
