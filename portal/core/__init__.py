"""The foundations: what every area of work stands on. Nothing here knows an area of work."""
