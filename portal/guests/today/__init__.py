"""The desk's day: who is expected, here, left; the list for an evacuation; the month; what is kept for how long."""


def register() -> None:
    """Called once, when the app is ready."""
    from portal.guests.today import reach, suggesting
    from portal.mirror import hooks
    from portal.mirror.kinds import Kind

    reach.register()
    hooks.after(Kind.HISTORIES, suggesting.heard)
    hooks.after(Kind.GUESTS, suggesting.catch_up)
