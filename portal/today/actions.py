"""Changing how the desk works, and asking for newer data while somebody looks at it."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from portal.core.intents.record import Asker
from portal.core.mirror import schedule
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import MirrorState
from portal.core.visits.models import DeskSettings
from portal.today.forms import SettingsForm
from tenants import audit
from tenants.models import Tenant, User
from tenants.wording import say

# Histories tell of arrivals, one call each time. The list of guests costs a call for each thousand of them.
_OFTEN = {Kind.HISTORIES: timedelta(seconds=30), Kind.GUESTS: timedelta(seconds=120)}


def save_settings(*, form: SettingsForm, by: Asker) -> bool:
    """Store a valid form, with its audit row. False: nothing was changed."""
    with transaction.atomic():
        row = DeskSettings.objects.select_for_update().first() or DeskSettings()
        before = {name: getattr(row, name) for name in form.cleaned_data}
        if before == form.cleaned_data and row.pk is not None:
            return False
        for name, value in form.cleaned_data.items():
            setattr(row, name, value)
        row.erased_through = None  # what is too old from now on goes with the next run
        row.save()
        changed = [name for name in before if before[name] != form.cleaned_data[name]]
        audit.record(
            tenant=by.tenant,
            by=by.user,
            action="desk.settings",
            target="desk",
            summary=say("desk.settings"),
            before={name: str(before[name]) for name in changed},
            after={name: str(form.cleaned_data[name]) for name in changed},
            support_session=by.support_session,
        )
    return True


def keep_fresh(tenant: Tenant, by: User) -> datetime | None:
    """Have what is old read again, once for all who look. Return as of when the histories are; None: never read."""
    now = timezone.now()
    states = {Kind(state.kind): state for state in MirrorState.objects.filter(kind__in=list(_OFTEN))}
    for kind, often in _OFTEN.items():
        state = states.get(kind)
        asked = state is not None and state.due_at is not None and state.due_at <= now
        if state is not None and not asked and (state.as_of is None or state.as_of < now - often):
            schedule.ask(tenant, kind, by=by)
    histories = states.get(Kind.HISTORIES)
    return histories.as_of if histories else None
