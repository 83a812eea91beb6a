"""A lost answer, resolved by reading: whether a guest was made, whether a change arrived."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from accessapi.errors import NotFound
from accessapi.limits import JST, PAGE_MAX
from accessapi.resources import write_moment
from accessapi.resources.guests import Guest
from portal.core.budget.client import client
from portal.core.budget.priorities import Priority
from portal.core.intents import evidence
from portal.core.intents.handlers import Finding
from portal.core.intents.models import Intent
from portal.core.intents.states import NOT_APPLIED
from portal.core.mirror import guest_list, reading
from portal.core.mirror.fields.guests import GUEST, told
from portal.core.mirror.folding import fold
from portal.core.timers.clock import database_now
from portal.core.visits.models import Visit
from tenants.connections.service import current_connection

# More namesakes of the last minutes than this are for a person to sort out, not for a machine to read one by one.
_MOST_CANDIDATES = 12


def for_created(intent: Intent) -> Finding:
    """Read the whole list (one call for each thousand guests) and look for a guest that was not there before.

    A code that the portal made proves it: each candidate is read and its code compared. Where the service made the
    code, name, address and hours must be those asked for, and only one such guest may be there.
    """
    at = database_now()
    told = {"read": write_moment(at)}
    candidates, is_whole = _candidates(intent)
    if len(candidates) > _MOST_CANDIDATES:
        return Finding(None, {**told, "guests of this name": str(len(candidates))})
    code = intent.body["qrcode_issuing_method"].get("qrcode_data")
    ours, unsure = _by_code(intent, candidates, code) if code else _by_words(intent.body, candidates)
    if len(ours) == 1 and not unsure:
        return Finding(True, {**told, "guest_id": ours[0]})
    if ours or unsure:
        return Finding(None, {**told, "may be": ", ".join([*ours, *unsure][:10])})
    return evidence.missing(intent, at, told, is_whole=is_whole)


def _candidates(intent: Intent) -> tuple[list[Mapping[str, Any]], bool]:
    """Listed guests of the name asked for that were not there before and that no other intent of ours made; and whether
    every guest of the list could be read.
    """
    known = set((intent.snapshot or {}).get("known", []))
    key = fold(intent.body["guest_name"])
    alike: list[Mapping[str, Any]] = []
    is_whole = True
    with client(current_connection(), Priority.PEOPLE) as service:
        for page in service.pages("list_guests", {"limit": PAGE_MAX, **guest_list.query()}):
            is_whole = is_whole and not page.value.unreadable
            alike += [item for item in page.value.rows if _has_id(item) and fold(str(item.get("guest_name"))) == key]
    fresh = {str(item["guest_id"]): item for item in alike if str(item["guest_id"]) not in known}
    others = Visit.objects.filter(guest_id__in=list(fresh), intent__isnull=False).exclude(intent=intent)
    for guest_id in others.values_list("guest_id", flat=True):
        fresh.pop(str(guest_id), None)
    return list(fresh.values()), is_whole


def _has_id(item: Any) -> bool:
    return isinstance(item, dict) and bool(item.get("guest_id"))


def _by_code(intent: Intent, candidates: Iterable[Mapping[str, Any]], code: str) -> tuple[list[str], list[str]]:
    """Candidates with exactly our code, and those whose code could not be read."""
    ours, unsure = [], []
    for item in candidates:
        guest_id = str(item["guest_id"])
        try:
            guest = reading.read_guest(current_connection(), guest_id, Priority.PEOPLE, alone=True)
        except NotFound:
            continue
        if guest.qrcode_data == code:
            ours.append(guest_id)
        elif not guest.qrcode_data:
            unsure.append(guest_id)
    return ours, unsure


def _by_words(body: Mapping[str, Any], candidates: Iterable[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Candidates that agree in all that the list tells; those of which it tells too little are unsure."""
    wanted = {
        "email": str(body["qrcode_issuing_method"]["email"]).casefold(),
        "use_date_start": _moment(body["use_date_start"]),
        "use_date_end": _moment(body["use_date_end"]),
    }
    ours, unsure = [], []
    for item in candidates:
        told = {name: _moment(item.get(name)) for name in ("use_date_start", "use_date_end")}
        told["email"] = str(item.get("email") or "").casefold() or None
        if all(told[name] == value for name, value in wanted.items()):
            ours.append(str(item["guest_id"]))
        elif all(told[name] in (value, None) for name, value in wanted.items()):
            unsure.append(str(item["guest_id"]))
    return ours, unsure


def _moment(text: Any) -> datetime | None:
    """A moment however it is written (fractions of a second aside); None for what cannot be read as one: who takes a
    guest for another because of a notation, issues a second code.
    """
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found.replace(microsecond=0, tzinfo=found.tzinfo or JST)


def at_updated(intent: Intent) -> Finding:
    """Read the guest once and compare every field that was sent, as far as a reading tells it."""
    at = database_now()
    try:
        guest = reading.read_guest(current_connection(), intent.path["guest_id"], Priority.PEOPLE, alone=True)
    except NotFound:
        return Finding(False, {"read": write_moment(at), "guest": "not there"})
    differs = differing(intent.body, guest)
    if not differs:
        return Finding(True, {"read": write_moment(at)})
    if _overtaken(intent):
        return Finding(None, {"read": write_moment(at), "differs": ", ".join(differs)})
    return evidence.missing(intent, at, {"read": write_moment(at), "differs": ", ".join(differs)})


def differing(body: Mapping[str, Any], guest: Guest) -> list[str]:
    """The fields of `body` that the service tells otherwise. What a reading does not tell differs from nothing."""
    known = told(guest.model_dump())
    return sorted(
        name for name, wanted in body.items() if known[name] is not None and not GUEST.same(name, wanted, known[name])
    )


def _overtaken(intent: Intent) -> bool:
    """Whether something newer changed the same guest, so that a difference proves nothing."""
    newer = Intent.objects.filter(target=intent.target, pk__gt=intent.pk, operation="update_guest")
    return newer.exclude(state__in=NOT_APPLIED).exists()
