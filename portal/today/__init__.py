"""The desk: guests who are expected, here or gone; the evacuation list; the month; retention of guests' data."""
