"""What is due: one clock, one bell, and timers that look for due rows and ring for them."""
