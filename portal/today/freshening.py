"""Asking for newer data while somebody looks at the desk: joined for all who look, and never more often than this."""

from datetime import datetime, timedelta

from django.utils import timezone

from portal.core.mirror import schedule
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import MirrorState
from tenants.models import Tenant, User

# Histories tell of arrivals, one call each time. The list of guests costs a call for each thousand of them.
OFTEN = {Kind.HISTORIES: timedelta(seconds=30), Kind.GUESTS: timedelta(seconds=120)}


def look(tenant: Tenant, by: User) -> datetime | None:
    """Have what is old read again; how fresh the histories on the screen are (None: never read)."""
    now = timezone.now()
    states = {Kind(state.kind): state for state in MirrorState.objects.filter(kind__in=list(OFTEN))}
    for kind, often in OFTEN.items():
        state = states.get(kind)
        asked = state is not None and state.due_at is not None and state.due_at <= now
        if state is not None and not asked and (state.as_of is None or state.as_of < now - often):
            schedule.ask(tenant, kind, by=by)
    histories = states.get(Kind.HISTORIES)
    return histories.as_of if histories else None
