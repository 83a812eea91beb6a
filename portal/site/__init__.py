"""The site itself: settings, addresses, workers and their clock, health, logging, formats."""
