"""The desk's day: who is expected, here, left; the list for an evacuation; the month; what is kept for how long."""


def register() -> None:
    """Called once, when the app is ready."""
    from portal.core.mirror import hooks
    from portal.core.mirror.kinds import Kind
    from portal.guests.today import reach, suggesting

    reach.register()
    hooks.after(Kind.HISTORIES, suggesting.heard)
    hooks.after(Kind.GUESTS, suggesting.catch_up)
