"""The desk's day: who is expected, here, left; the list for an evacuation; the month; what is kept for how long."""
