"""What is done with a roll call: begin it, list somebody more, tick people off, end it."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from portal.core.inside import people
from portal.core.inside.people import Person
from portal.core.intents.record import Asker
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import MirrorState
from portal.rollcall.models import How, Listed, RollCall, Said, Tick
from tenants import audit
from tenants.wording import Said as SaidOfIt
from tenants.wording import say


@dataclass(frozen=True)
class Press:
    """A tick as a phone sends it."""

    listed_id: int
    said: Said
    pressed_at: datetime
    nonce: uuid.UUID

    @classmethod
    def read(cls, told: object) -> "Press":
        """Return what a phone told as a press. Raises ValueError for anything else."""
        if not isinstance(told, dict):
            raise ValueError("not a press")
        at = parse_datetime(str(told.get("at")))
        if at is None or timezone.is_naive(at):
            raise ValueError("no moment")
        return cls(int(str(told.get("id"))), Said(str(told.get("said"))), at, uuid.UUID(str(told.get("nonce"))))


def start(*, name: str, nonce: uuid.UUID, by: Asker) -> RollCall:
    """Begin a roll call of everybody who is believed to be in now; the same one for the same form."""
    now = timezone.now()
    with transaction.atomic():
        state = MirrorState.objects.filter(kind=Kind.HISTORIES).first()
        more = {"name": name, "started_at": now, "started_by": by.user, "known_at": state.as_of if state else None}
        call, is_new = RollCall.objects.get_or_create(nonce=nonce, defaults=more)
        if is_new:
            found = [*people.members(now), *people.guests(now)]
            Listed.objects.bulk_create([_listed(call, person, How.START) for person in found])
            _recorded(by, "roll_call.started", say("roll_call.started", name=name), call, people=len(found))
    return call


def end(*, call: RollCall, by: Asker) -> bool:
    """End a roll call. False: it was ended before."""
    with transaction.atomic():
        ended = RollCall.objects.filter(pk=call.pk, ended_at=None).update(ended_at=timezone.now(), ended_by=by.user)
        if ended:
            _recorded(by, "roll_call.ended", say("roll_call.ended", name=call.name), call)
    return bool(ended)


def add_by_hand(*, call: RollCall, name: str, place: str, nonce: uuid.UUID, by: Asker) -> None:
    """List somebody whom nobody knew of; once for the same form."""
    with transaction.atomic():
        more = {"name": name, "place": place, "how": How.HAND, "added_by": by.user}
        _, is_new = Listed.objects.get_or_create(roll_call=call, key=f"hand:{nonce}", defaults=more)
        if is_new:
            _recorded(by, "roll_call.person_added", say("roll_call.person_added", name=call.name), call)


def add_seen(*, call: RollCall, key: str, by: Asker) -> None:
    """List somebody who was seen in the building after the roll call began, as they are known now."""
    found = {person.key: person for person in people.moved_since(call.started_at).came}
    with transaction.atomic():
        if key in found:
            made = _listed(call, found[key], How.LOG)
            made.added_by = by.user
            if Listed.objects.bulk_create([made], ignore_conflicts=True):
                _recorded(by, "roll_call.person_added", say("roll_call.person_added", name=call.name), call)


def tick(*, call: RollCall, presses: Iterable[Press], by: Asker) -> list[uuid.UUID]:
    """Keep the presses of a phone, each once. Returns those that can never be kept: of people who are not on the list,
    or pressed after the roll call had ended.
    """
    now, presses = timezone.now(), list(presses)
    known = set(Listed.objects.filter(roll_call=call).values_list("pk", flat=True))
    until = call.ended_at or now
    kept = [each for each in presses if each.listed_id in known and min(each.pressed_at, now) <= until]
    rows = [
        Tick(
            roll_call=call, listed_id=each.listed_id, said=each.said, by=by.user, pressed_at=each.pressed_at,
            counts_at=max(min(each.pressed_at, now), call.started_at), nonce=each.nonce,
        )
        for each in kept
    ]  # fmt: skip
    Tick.objects.bulk_create(rows, ignore_conflicts=True)
    return [each.nonce for each in presses if each not in kept]


def _listed(call: RollCall, person: Person, how: How) -> Listed:
    return Listed(
        roll_call=call, key=person.key, name=person.name[:200], belongs=person.belongs, area=person.area,
        place=person.place, at=person.at, certainty=person.certainty, how=how,
    )  # fmt: skip


def _recorded(by: Asker, action: str, summary: SaidOfIt, call: RollCall, **after: int) -> None:
    audit.record(**by.author, action=action, target=f"roll_call:{call.pk}", summary=summary, after=after)
