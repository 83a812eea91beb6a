"""Why somebody may enter a place at a moment, or may not."""
