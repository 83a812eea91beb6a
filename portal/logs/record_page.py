"""Load the data of a log record's page: details, person, place, records around it, and the reason."""

from functools import partial
from typing import Any

from django.db.models import QuerySet, Value

from portal.base.ui.times import local
from portal.domain.intents import queries as intents
from portal.domain.intents.words import outcome_of
from portal.domain.log import visibility
from portal.domain.log.request_matching import request_of
from portal.domain.mirror.freshness import freshness_for
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import History
from portal.domain.visits.models import Visit
from portal.logs.people import NamedSubject, person_of, place_of
from portal.logs.record_types import RecordType, type_of
from tenants.access import TenantRequest
from tenants.roles import Permission

# How many records are shown before and after the record.
MAX_AROUND = 5
_TONES = {RecordType.REFUSED: "bad", RecordType.ALARM: "loud"}


def record_context(request: TenantRequest, record: History) -> dict[str, Any]:
    """Return the template context of the page."""
    access = request.access
    words = request.tenant.environment.catalogue
    person = person_of(access, record.member_id, record.member_name) if record.member_id else None
    sort = type_of(record, words)
    cause = request_of(record, intents.visible_to(access))
    return {
        "record": record,
        "day": local(record.at).date().isoformat(),
        "person": person or (NamedSubject("", record.member_name) if record.member_name else None),
        "place": place_of(access, record.device_id, record.device_name) if record.device_id else None,
        "sort": sort,
        "tone": _TONES.get(sort, "quiet"),
        "camera_id": record.extra.get("camera_id"),
        "unknown": sorted((name, value) for name, value in record.extra.items() if name != "camera_id"),
        "cause": cause,
        "story": outcome_of(cause.intent) if cause else None,
        "issued": _visit_of_code(request, record, person),
        "around": records_around(record, visibility.visible_records(access)),
        "through": freshness_for(request)[MirrorKind.HISTORIES].as_of,
    }


def records_around(record: History, rows: QuerySet[History]) -> dict[str, list[History]]:
    """Return the record and the `rows` right before and after it, the newest first, by place and by person."""
    same = {"place": {"device_id": record.device_id}, "person": {"member_id": record.member_id}}
    found = {name: [record] for name, by in same.items() if all(by.values())}
    beside = [
        each for name in found for each in _neighbours(record, rows.filter(**same[name]).annotate(same=Value(name)))
    ]
    for each in beside[0].union(*beside[1:], all=True) if beside else ():
        found[each.same].append(each)
    by_time = partial(sorted, key=lambda each: (each.at, each.pk), reverse=True)
    return {name: by_time(each) for name, each in found.items()}


def _neighbours(record: History, rows: QuerySet[History]) -> list[QuerySet[Any]]:
    before = rows.filter(at__lte=record.at).exclude(at=record.at, pk__gte=record.pk).order_by("-at", "-pk")
    after = rows.filter(at__gte=record.at).exclude(at=record.at, pk__lte=record.pk).order_by("at", "pk")
    return [before[:MAX_AROUND], after[:MAX_AROUND]]


def _visit_of_code(request: TenantRequest, record: History, person: NamedSubject | None) -> Visit | None:
    """Return the visit whose code a guest used, if the code was issued here."""
    if person is None or person.kind != "guest" or not request.access.can(Permission.GUESTS_VIEW):
        return None
    issued = Visit.objects.filter(guest_id=record.member_id, intent__isnull=False, created_at__lte=record.at)
    return issued.select_related("by", "intent").first()
