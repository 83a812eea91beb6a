"""Queries for the desk's screens: visits, presets, settings and results of requests."""

import json
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.ui.times import local
from portal.domain.intents import queries as intents
from portal.domain.intents.models import Intent, target_of
from portal.domain.intents.states import UNDER_WAY, State
from portal.domain.jobs import member_jobs
from portal.domain.mirror.fields.guests import AREAS, GUEST, KEYS
from portal.domain.visits.models import By, Visit
from portal.guests.places import GuestPlaces
from tenants.access import Access
from tenants.audit_log.changes import RecordedChange, changed_fields
from tenants.models import AuditEntry

_PRESENCE = ("arrived_at", "arrived_by", "left_at", "left_by")
# Fields that only the portal stores.
_LABELS = {
    "company": gettext_lazy("Company"),
    "host_name": gettext_lazy("Host"),
    "arrived_at": gettext_lazy("Arrived"),
    "arrived_by": gettext_lazy("Recorded by"),
    "left_at": pgettext_lazy("guests", "Left"),
    "left_by": gettext_lazy("Recorded by"),
}


def requests_about(visit: Visit) -> list[Intent]:
    """Return the newest requests about this guest by anyone, including its creation."""
    mine = Q(pk=visit.intent_id)
    if visit.guest_id is not None:
        mine |= Q(target=target_of("guest", visit.guest_id))
    return list(intents.latest_intents().filter(mine).select_related("tenant__environment")[:8])


def has_open_change(visit: Visit) -> bool:
    """Return whether a change of this guest is under way or uncertain, so that the known end may be wrong."""
    unknown = Intent.objects.filter(operation="update_guest", state__in=[*UNDER_WAY, State.UNCERTAIN])
    return visit.guest_id is not None and unknown.filter(target=target_of("guest", visit.guest_id)).exists()


def staff_changes(access: Access, visit: Visit, asked: list[Intent], known: GuestPlaces) -> list[RecordedChange]:
    """Return what staff did to this guest, newest first, each with its list. Results are shown with the intents."""
    mine = Q(target=f"visit:{visit.pk}") | Q(intent_id__in=[str(intent.pk) for intent in asked])
    if visit.guest_id is not None:
        mine |= Q(target=target_of("guest", visit.guest_id))
    if visit.party is not None:
        mine |= Q(target=f"party:{visit.party}")
    rows = AuditEntry.objects.filter(mine).exclude(action__contains="_guest.").select_related("support_session")
    found = [(entry, changed_fields(entry)) for entry in rows.select_related("by").order_by("-at", "-pk")[:20]]
    for entry, _fields in found:
        entry.guest = visit.guest_name
    pages = member_jobs.job_pages_of(access, [entry.intent_id for entry, _fields in found])
    return [
        RecordedChange(entry, [_readable_change(known, *field) for field in fields], pages.get(entry.intent_id, ""))
        for entry, fields in found
    ]


def _readable_change(known: GuestPlaces, name: str, *values: str) -> tuple[str, str, str]:
    """Return a changed field with its label and values as the page shows them."""
    if name in _PRESENCE:
        values = tuple(_presence_text(value) for value in values)
    elif name in (AREAS.name, KEYS.name):
        values = tuple(_place_names(known, name, value) for value in values)
    elif GUEST.get(name):
        values = tuple(GUEST.format_value(name, value) for value in values)
    return str(_LABELS.get(name) or GUEST.label_of(name)), values[0], values[1]


def _presence_text(value: str) -> str:
    """Return an audit entry's value about arrival or departure (a time, or who recorded it) as text."""
    if value in By.values:
        return str(By(value).label)
    try:
        return f"{local(datetime.fromisoformat(value)):%Y-%m-%d %H:%M:%S}"
    except ValueError:
        return value


def _place_names(known: GuestPlaces, name: str, value: str) -> str:
    """Return the names of the areas or keys in an audit entry."""
    try:
        listed = json.loads(value) if value else []
        return ", ".join(known.area_names(listed) if name == AREAS.name else known.key_names(listed))
    except (ValueError, TypeError, AttributeError):
        return value


def last_refusal() -> Intent | None:
    """Return the newest finished creation of a guest if it was refused."""
    newest = Visit.objects.filter(intent__finished_at__isnull=False).order_by("-pk").select_related("intent").first()
    intent = newest.intent if newest else None
    return intent if intent is not None and intent.http_status is not None and intent.http_status >= 400 else None
