"""Steps after a guest's creation or change has finished: update visits and mirror, and resolve lost answers."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from accessapi.errors import NotFound
from accessapi.limits import JST, PAGE_MAX
from accessapi.resources import write_moment
from accessapi.resources.guests import Guest
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.budget.client import client
from portal.domain.budget.priorities import Priority
from portal.domain.events import MirrorKind
from portal.domain.intents import handlers
from portal.domain.intents.handlers import Finding
from portal.domain.intents.models import NOT_APPLIED, Intent, State, target_of
from portal.domain.jobs import row_executor
from portal.domain.people.guest_fields import GUEST, values_from_read
from portal.domain.people.text_folding import fold
from portal.domain.sync import local_writes, schedule, single_reads, swapping
from portal.domain.visits import checking_in, visit_status
from portal.domain.visits.models import CodeLink, Stage, Visit
from portal.guests import deactivation
from tenants.connections.service_clients import current_connection
from tenants.models import Tenant

# With more recent guests of the same name, staff must decide: reading each one would take too many calls.
_MOST_CANDIDATES = 12
# The guest list has been read twice by then.
_GIVE_UP_AFTER = timedelta(minutes=15)


def find_created(intent: Intent) -> Finding:
    """Read the whole list (one call per thousand guests) and look for the new guest.

    If the portal made the code, each candidate is read and its code compared. If the service made it, name, address and
    hours must be as requested, and only one such guest may exist.
    """
    at = database_now()
    evidence = {"read": write_moment(at)}
    candidates, is_whole = _candidates(intent)
    if len(candidates) > _MOST_CANDIDATES:
        return Finding(None, {**evidence, "guests of this name": str(len(candidates))})
    code = intent.body["qrcode_issuing_method"].get("qrcode_data")
    matching, unsure = _by_code(intent, candidates, code) if code else _by_fields(intent.body, candidates)
    if len(matching) == 1 and not unsure:
        return Finding(True, {**evidence, "guest_id": matching[0]})
    if matching or unsure:
        return Finding(None, {**evidence, "may be": ", ".join([*matching, *unsure][:10])})
    return handlers.check_absence(intent, at, evidence, is_whole=is_whole)


def _candidates(intent: Intent) -> tuple[list[Mapping[str, Any]], bool]:
    """Return new guests of the requested name that no other intent created, and whether the whole list was readable."""
    known = set((intent.snapshot or {}).get("known", []))
    key = fold(intent.body["guest_name"])
    alike: list[Mapping[str, Any]] = []
    is_whole = True
    with client(current_connection(), Priority.PEOPLE) as service:
        for page in service.pages("list_guests", {"limit": PAGE_MAX, **swapping.guest_page_query()}):
            is_whole = is_whole and not page.value.unreadable_rows
            alike += [item for item in page.value.rows if _has_id(item) and fold(str(item.get("guest_name"))) == key]
    fresh = {str(item["guest_id"]): item for item in alike if str(item["guest_id"]) not in known}
    others = Visit.objects.filter(guest_id__in=list(fresh), intent__isnull=False).exclude(intent=intent)
    for guest_id in others.values_list("guest_id", flat=True):
        fresh.pop(str(guest_id), None)
    return list(fresh.values()), is_whole


def _has_id(item: Any) -> bool:
    return isinstance(item, dict) and bool(item.get("guest_id"))


def _by_code(intent: Intent, candidates: Iterable[Mapping[str, Any]], code: str) -> tuple[list[str], list[str]]:
    """Return candidates with exactly our code, and candidates whose code could not be read."""
    matching, unsure = [], []
    for item in candidates:
        guest_id = str(item["guest_id"])
        try:
            guest = single_reads.read_guest(current_connection(), guest_id, Priority.PEOPLE, is_unshared=True)
        except NotFound:
            continue
        if guest.qrcode_data == code:
            matching.append(guest_id)
        elif not guest.qrcode_data:
            unsure.append(guest_id)
    return matching, unsure


def _by_fields(body: Mapping[str, Any], candidates: Iterable[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return candidates that match all listed fields, and candidates with missing fields that may match."""
    requested = {
        "email": str(body["qrcode_issuing_method"]["email"]).casefold(),
        "use_date_start": _moment(body["use_date_start"]),
        "use_date_end": _moment(body["use_date_end"]),
    }
    matching, unsure = [], []
    for item in candidates:
        values: dict[str, Any] = {name: _moment(item.get(name)) for name in ("use_date_start", "use_date_end")}
        values["email"] = str(item.get("email") or "").casefold() or None
        if all(values[name] == value for name, value in requested.items()):
            matching.append(str(item["guest_id"]))
        elif all(values[name] in (value, None) for name, value in requested.items()):
            unsure.append(str(item["guest_id"]))
    return matching, unsure


def _moment(text: Any) -> datetime | None:
    """Return a moment in any notation, without fractions of a second; None if it is not readable.

    Comparing texts instead could miss the guest because of a notation, and a second code would be issued.
    """
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found.replace(microsecond=0, tzinfo=found.tzinfo or JST)


def check_updated(intent: Intent) -> Finding:
    """Read the guest once and compare every field that was sent, if the reading contains it."""
    at = database_now()
    try:
        guest = single_reads.read_guest(
            current_connection(), intent.path["guest_id"], Priority.PEOPLE, is_unshared=True
        )
    except NotFound:
        return Finding(False, {"read": write_moment(at), "guest": "not there"})
    differs = differing_fields(intent.body, guest)
    if not differs:
        return Finding(True, {"read": write_moment(at)})
    if _has_newer_change(intent):
        return Finding(None, {"read": write_moment(at), "differs": ", ".join(differs)})
    return handlers.check_absence(intent, at, {"read": write_moment(at), "differs": ", ".join(differs)})


def differing_fields(body: Mapping[str, Any], guest: Guest) -> list[str]:
    """Return the fields of `body` whose value differs from the reading.

    Fields missing from the reading do not differ.
    """
    known = values_from_read(guest.model_dump())
    return sorted(
        name
        for name, requested in body.items()
        if known[name] is not None and not GUEST.is_same(name, requested, known[name])
    )


def _has_newer_change(intent: Intent) -> bool:
    """Return whether a newer change of the same guest exists, so that a difference proves nothing."""
    newer = Intent.objects.filter(target=intent.target, pk__gt=intent.pk, operation="update_guest")
    return newer.exclude(state__in=NOT_APPLIED).exists()


def on_created(intent: Intent) -> None:
    """Save the new guest's ID on the visit and in the mirror. If creation failed, the visit can be requested again."""
    row_executor.on_finished(intent)
    visit = Visit.objects.filter(intent=intent).first()
    if intent.state == State.UNCERTAIN:
        return
    if intent.state != State.SUCCEEDED:
        if visit is not None:
            Visit.objects.filter(pk=visit.pk).update(stage=Stage.NOT_ISSUED, cut_due_at=None)
        return
    guest_id = str(intent.result.get("guest_id") or (intent.result.get("evidence") or {}).get("guest_id") or "")
    if not guest_id:  # a person declared it applied: the ID comes from the next list (see `match_declared`)
        schedule.request_reading(intent.tenant, MirrorKind.GUESTS, by=None)
        return
    intent.target = target_of("guest", guest_id)
    Intent.objects.filter(pk=intent.pk).update(target=intent.target)
    local_writes.apply_guest_write(intent.tenant, guest_id, intent.body, created=True)
    if visit is not None:
        link_guest(visit, guest_id)


def link_guest(visit: Visit, guest_id: str) -> None:
    """Link a visit to the service's guest.

    If a list created another visit for this guest, that visit is deleted and its arrival and leave times are kept.
    """
    other = Visit.objects.filter(guest_id=guest_id).exclude(pk=visit.pk).first()
    values: dict[str, Any] = {"stage": Stage.ISSUED, "guest_id": guest_id, "gone_at": None}
    if other is not None:
        for name in ("arrived_at", "arrived_by", "left_at", "left_by", "suggested_arrival_at", "suggested_leave_at"):
            if getattr(other, name) and not getattr(visit, name):
                values[name] = getattr(other, name)
        other.links.update(visit=visit)
        other.delete()
    if visit.is_cut:  # deactivated while it was unknown whether the code exists
        values["cut_due_at"] = database_now()
    Visit.objects.filter(pk=visit.pk).update(**values)
    checking_in.check_in_with_code(visit)


def on_updated(intent: Intent) -> None:
    """Save what the service accepted in mirror and visit. A guest that no longer exists is marked as gone."""
    guest_id = intent.path["guest_id"]
    if intent.state == State.FAILED and intent.http_status == 404:
        local_writes.apply_guest_gone(intent.tenant, guest_id)
        Visit.objects.filter(guest_id=guest_id, gone_at__isnull=True).update(gone_at=database_now())
    if intent.state == State.SUCCEEDED:
        local_writes.apply_guest_write(intent.tenant, guest_id, intent.body)
        Visit.objects.filter(guest_id=guest_id).update(**_columns(intent.body))
        deactivation.end_by_revival(intent)
        if "qrcode_data" in intent.body:  # links to the old code must not show the new one
            Visit.objects.filter(guest_id=guest_id).update(email_used=False)  # the mailed code no longer works
            links = CodeLink.objects.filter(
                visit__guest_id=guest_id, revoked_at=None, created_at__lte=intent.created_at
            )
            links.update(revoked_at=ClockTime())
    if intent.state != State.UNCERTAIN:
        deactivation.check_soon(guest_id)


def _columns(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: datetime.fromisoformat(body[name]) for name in ("use_date_start", "use_date_end") if name in body
    }
    if "guest_name" in body:
        found |= {"guest_name": body["guest_name"], "name_key": fold(body["guest_name"])}
    return found or {"guest_id": F("guest_id")}


def on_guests(tenant: Tenant) -> None:
    """Update visits after each complete list of guests."""
    visit_status.update_from_mirror(tenant)
    match_declared(tenant)
    deactivation.check_ended()


def match_declared(tenant: Tenant) -> None:
    """Link creations that a person declared applied to their guest.

    The guest must be the only one with this name and these hours that no intent created. If later lists show none or
    several, the visit is marked as not issued. Several guests stay on the desk as separate visits.
    """
    waiting = Visit.objects.filter(stage=Stage.REQUESTED, intent__state=State.SUCCEEDED)
    given_up = database_now() - _GIVE_UP_AFTER
    for visit in waiting.select_related("intent")[:50]:
        known = (visit.intent.snapshot or {}).get("known", []) if visit.intent else []
        alike = Visit.objects.filter(
            stage=Stage.ISSUED,
            intent__isnull=True,
            name_key=visit.name_key,
            use_date_start=visit.use_date_start,
            use_date_end=visit.use_date_end,
        ).exclude(guest_id__in=known)
        found = list(alike[:2])
        if len(found) == 1:
            link_guest(visit, str(found[0].guest_id))
        elif visit.intent and visit.intent.finished_at and visit.intent.finished_at < given_up:
            Visit.objects.filter(pk=visit.pk).update(stage=Stage.NOT_ISSUED, cut_due_at=None)
