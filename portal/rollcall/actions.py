"""Actions on a roll call: start, add people, save check-offs, end."""

import uuid
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db import transaction
from django.utils import timezone

from accessapi.moments import read_moment
from portal.domain.events import MirrorKind
from portal.domain.intents.recording import Requester
from portal.domain.presence import people
from portal.domain.presence.people import PersonInside
from portal.domain.sync.models import MirrorState
from portal.rollcall.models import How, ListedPerson, PersonStatus, RollCall, Tick
from tenants import audit
from tenants.sentences import Sentence, coded_sentence


@dataclass(frozen=True)
class TickPress:
    """A tick as a phone sends it. `pressed_at` is None if the phone sent no valid time."""

    listed_id: int
    status: PersonStatus
    pressed_at: datetime | None
    nonce: uuid.UUID

    @classmethod
    def parse(cls, data: object) -> "TickPress | None":
        """Return a tick from the phone's data; None if it is invalid."""
        if not isinstance(data, dict):
            return None
        at, (row, status, nonce) = (
            read_moment(data.get("at")),
            (str(data.get(name)) for name in ("id", "status", "nonce")),
        )
        try:
            return cls(int(row), PersonStatus(status), at, uuid.UUID(nonce))
        except ValueError:
            return None


class TickRefusal(StrEnum):
    """The reason why a tick is not saved. Sending it again does not help."""

    UNREADABLE = "unreadable"
    UNLISTED = "unlisted"
    LATE = "late"


def start(*, name: str, nonce: uuid.UUID, by: Requester) -> RollCall:
    """Start a roll call of everyone who may be in the building now. The same form returns the same roll call."""
    now = timezone.now()
    with transaction.atomic():
        state = MirrorState.objects.filter(kind=MirrorKind.HISTORIES).first()
        more = {"name": name, "started_at": now, "started_by": by.user, "known_at": state.as_of if state else None}
        call, is_new = RollCall.objects.get_or_create(nonce=nonce, defaults=more)
        if is_new:
            found = [*people.present_members(now), *people.present_guests(now)]
            ListedPerson.objects.bulk_create([_listed(call, person, How.START) for person in found])
            _audit(by, "roll_call.started", coded_sentence("roll_call.started", name=name), call, people=len(found))
    return call


def end(*, call: RollCall, by: Requester) -> bool:
    """End a roll call. Return False if it had already ended."""
    with transaction.atomic():
        ended = RollCall.objects.filter(pk=call.pk, ended_at=None).update(ended_at=timezone.now(), ended_by=by.user)
        if ended:
            _audit(by, "roll_call.ended", coded_sentence("roll_call.ended", name=call.name), call)
    return bool(ended)


def add_by_name(*, call: RollCall, name: str, place: str, nonce: uuid.UUID, by: Requester) -> None:
    """Add a person by name; once for the same form."""
    with transaction.atomic():
        more = {"name": name, "place": place, "how": How.HAND, "added_by": by.user}
        _, is_new = ListedPerson.objects.get_or_create(roll_call=call, key=f"hand:{nonce}", defaults=more)
        if is_new:
            _audit(by, "roll_call.person_added", coded_sentence("roll_call.person_added", name=call.name), call)


def add_seen(*, call: RollCall, key: str, by: Requester) -> None:
    """Add a person who was seen in the building after the start of the roll call."""
    found = {person.key: person for person in people.movements_since(call.started_at).arrivals}
    with transaction.atomic():
        if key in found:
            made = _listed(call, found[key], How.LOG)
            made.added_by = by.user
            if ListedPerson.objects.bulk_create([made], ignore_conflicts=True):
                _audit(by, "roll_call.person_added", coded_sentence("roll_call.person_added", name=call.name), call)


def save_ticks(*, call: RollCall, raw_ticks: Sequence[object], by: Requester) -> list[TickRefusal | None]:
    """Save a phone's ticks, each once. Return for each the reason why it is not saved, or None.

    A wrong clock loses no tick. Ticks from the future or without a valid time count from their arrival; ticks from
    before the roll call count from its start.
    """
    now, presses = timezone.now(), [TickPress.parse(each) for each in raw_ticks]
    known = set(ListedPerson.objects.filter(roll_call=call).values_list("pk", flat=True))
    refused = [_refusal(press, known, now, call.ended_at or now) for press in presses]
    rows = [
        Tick(
            roll_call=call, listed_id=each.listed_id, status=each.status, by=by.user, pressed_at=each.pressed_at or now,
            counts_at=max(min(each.pressed_at or now, now), call.started_at), nonce=each.nonce,
        )
        for each, why in zip(presses, refused, strict=True)
        if each is not None and why is None
    ]  # fmt: skip
    Tick.objects.bulk_create(rows, ignore_conflicts=True)
    return refused


def _refusal(press: TickPress | None, known: Set[int], now: datetime, until: datetime) -> TickRefusal | None:
    if press is None:
        return TickRefusal.UNREADABLE
    if press.listed_id not in known:
        return TickRefusal.UNLISTED
    return TickRefusal.LATE if min(press.pressed_at or now, now) > until else None


def _listed(call: RollCall, person: PersonInside, how: How) -> ListedPerson:
    return ListedPerson(
        roll_call=call, key=person.key, name=person.name[:200], belongs=person.group_or_company, area=person.area,
        place=person.place, at=person.at, certainty=person.certainty, how=how,
    )  # fmt: skip


def _audit(by: Requester, action: str, summary: Sentence, call: RollCall, **after: int) -> None:
    audit.record(**by.audit_author, action=action, target=f"roll_call:{call.pk}", summary=summary, after=after)
