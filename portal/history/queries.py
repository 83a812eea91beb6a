"""Find the people and places of log records, and what a record's page shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import QuerySet, Value
from django.http import Http404

from portal.base.ui import command_palette
from portal.base.ui.command_palette import Hit
from portal.base.ui.tables.filters import ListAddress
from portal.base.ui.times import local
from portal.base.ui.url_lookup import url_in_tenant
from portal.domain.events import MirrorKind
from portal.domain.history import visibility
from portal.domain.history.models import History
from portal.domain.history.request_matching import request_of
from portal.domain.intents import queries as intents
from portal.domain.intents.words import outcome_of
from portal.domain.people import queries
from portal.domain.people.models import Member
from portal.domain.places.models import KeyBox, PassController
from portal.domain.sync.freshness import freshness_for
from portal.domain.visits.models import Visit
from portal.domain.visits.queries import find_by_guest_name
from portal.history.days import RecordType, type_of
from tenants.access import Access, TenantRequest
from tenants.roles import Permission


@dataclass(frozen=True)
class NamedSubject:
    """A person or device with a name. `href` is its page; empty if the reader has no access to one.

    `kind` is `member`, `guest`, `door`, `key_box` or empty.
    """

    id: str
    name: str
    href: str = ""
    kind: str = ""

    def __str__(self) -> str:
        return self.name or self.id


def person_of(access: Access, member_id: str, name: str = "") -> NamedSubject:
    """Return the person with this ID: a known member or guest, else the name in the log."""
    slug = access.tenant.slug
    if access.can(Permission.MEMBERS_VIEW):
        member = Member.objects.filter(member_id=member_id).only("tenant_id", "member_name").first()
        if member is not None:
            return NamedSubject(member_id, member.member_name, url_in_tenant("members:page", slug, member_id), "member")
    if access.can(Permission.GUESTS_VIEW):
        visit = Visit.objects.filter(guest_id=member_id, erased_at__isnull=True).only("tenant_id", "guest_name").first()
        if visit is not None:
            return NamedSubject(member_id, visit.guest_name, url_in_tenant("guests:guest", slug, member_id), "guest")
    return NamedSubject(member_id, name)


def place_of(access: Access, device_id: str, name: str = "") -> NamedSubject:
    """Return the door or key box with its present name, else the name in the log."""
    slug, may = access.tenant.slug, access.can(Permission.DEVICES_VIEW)
    door = PassController.objects.filter(device_id=device_id).only("tenant_id", "device_name").first()
    if door is not None:
        return NamedSubject(
            device_id, door.device_name, url_in_tenant("devices:door", slug, device_id) if may else "", "door"
        )
    box = KeyBox.objects.filter(key_device_id=device_id).only("tenant_id", "key_device_name").first()
    if box is not None:
        href = url_in_tenant("keys:box", slug, device_id) if may else ""
        return NamedSubject(device_id, box.key_device_name, href, "key_box")
    return NamedSubject(device_id, name)


def person_or_404(access: Access, member_id: str, records: Sequence[History]) -> NamedSubject:
    """Return the person of a page, with `records` of theirs. Raises Http404 if nothing is known about the ID."""
    found = person_of(access, member_id, records[0].member_name if records else "")
    if found.kind or records:
        return found
    return _named_in_records(access, "member", member_id)


def place_or_404(access: Access, device_id: str) -> NamedSubject:
    """Return the door or key box of a page. Raises Http404 if nothing is known about the ID."""
    found = place_of(access, device_id)
    if found.kind:
        return found
    return _named_in_records(access, "device", device_id)


def _named_in_records(access: Access, prefix: str, subject_id: str) -> NamedSubject:
    """Return a subject with its name in its newest record. Raises Http404 if there is none."""
    rows = visibility.visible_records(access).filter(**{f"{prefix}_id": subject_id}).exclude(**{f"{prefix}_id": ""})
    name = rows.order_by("-at", "-pk").values_list(f"{prefix}_name", flat=True).first()
    if name is None:
        raise Http404
    return NamedSubject(subject_id, name)


@dataclass(frozen=True)
class PeopleFound:
    """The people that match a text: members, then guests. Each links to the log of this person."""

    hits: list[Hit]
    has_more: bool


def find_people(access: Access, text: str, address: ListAddress) -> PeopleFound:
    """Return the first people whose name or code matches, as far as the reader may see them.

    Each links to the list `address`, filtered by this person.
    """
    hits, has_more = [], False
    for people in (_find_members(access, text), _find_guests(access, text)):
        first = list(people)
        has_more |= len(first) > command_palette.MAX_HITS
        for key, name, icon, hint in first[: command_palette.MAX_HITS]:
            hits.append(Hit(name, address.with_(person=key, find=None), icon, hint))
    return PeopleFound(hits, has_more)


FoundPerson = tuple[str, str, str, str]  # ID, name, icon, and a text that distinguishes people with the same name


def _find_members(access: Access, text: str) -> Iterator[FoundPerson]:
    if not text or not access.can(Permission.MEMBERS_VIEW):
        return
    for each in queries.search_for_reader(access, text)[: command_palette.MAX_HITS + 1]:
        hint = " · ".join(filter(None, (each.member_code, each.membergroup_name)))
        yield each.member_id, each.member_name or each.member_id, "user", hint


def _find_guests(access: Access, text: str) -> Iterator[FoundPerson]:
    if not access.can(Permission.GUESTS_VIEW):
        return
    rows = (
        find_by_guest_name(text)
        .exclude(guest_id=None)
        .only("tenant_id", "guest_id", "guest_name", "company", "use_date_start")
    )
    for each in rows[: command_palette.MAX_HITS + 1]:
        hint = " · ".join(filter(None, (each.company, f"{local(each.use_date_start):%Y-%m-%d}")))
        yield str(each.guest_id), str(each), "qrcode", hint


# How many records are shown before and after the record.
MAX_AROUND = 5
_TONES = {RecordType.REFUSED: "bad", RecordType.ALARM: "loud"}


def record_context(request: TenantRequest, record: History) -> dict[str, Any]:
    """Return the template context of the page."""
    access = request.access
    catalogue = request.tenant.environment.catalogue
    person = person_of(access, record.member_id, record.member_name) if record.member_id else None
    sort = type_of(record, catalogue)
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
        "line": outcome_of(cause.intent) if cause else None,
        "issued": _visit_of_code(request, record, person),
        "around": records_around(record, visibility.visible_records(access)),
        "through": freshness_for(request)[MirrorKind.HISTORIES].as_of,
    }


def records_around(record: History, rows: QuerySet[History]) -> dict[str, list[History]]:
    """Return the record and the `rows` right before and after it, the newest first, by place and by person."""
    same = {"place": {"device_id": record.device_id}, "person": {"member_id": record.member_id}}
    found = {name: [record] for name, by in same.items() if all(by.values())}
    neighbours = [
        each for name in found for each in _neighbours(record, rows.filter(**same[name]).annotate(same=Value(name)))
    ]
    for each in neighbours[0].union(*neighbours[1:], all=True) if neighbours else ():
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
