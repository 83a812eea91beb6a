"""The clock and the timers: they find due rows and start worker tasks for them."""
