"""The site itself: settings, URLs, workers and their clock, health checks, logging, formats."""
