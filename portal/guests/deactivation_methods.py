"""The methods to end a code, in the order in which they are tried, and the check that a code has ended.

The specification does not say which hours the service accepts. It may refuse an end or start in the past, or an end
equal to the start. If one method is refused or has no effect, the next one is tried. The later methods replace the code
with a secret one and remove areas and keys. The old code then opens nothing, even with unchanged hours.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from accessapi.resources import write_moment
from accessapi.resources.guests import Guest as ServiceGuest
from portal.domain.people.guest_fields import AREAS, CODE, END, KEYS, START
from portal.domain.visits.models import Visit
from portal.domain.visits.queries import guest_of
from portal.guests import issuing

Body = dict[str, Any]

_PLACES = (AREAS.name, KEYS.name)
# The length of a period that is moved into the past, and how soon a period begins and ends if the past is refused.
_LENGTH = timedelta(minutes=1)
_SOON = timedelta(seconds=30)


def end_in_past(visit: Visit, now: datetime) -> Body | None:
    """Return the body that ends the code when it had to end. A period that had not begun then moves into the past."""
    end = visit.must_end_at or now
    body = {END.name: write_moment(end)}
    if visit.use_date_start.replace(microsecond=0) < end.replace(microsecond=0):
        return body
    return {START.name: write_moment(end - _LENGTH), **body}


def end_soon(visit: Visit, now: datetime) -> Body | None:
    """Return the body for a service that refuses past times: a new code without places, valid for a moment from now."""
    end = min(now + _SOON + _LENGTH, max(visit.use_date_end, now + _SOON))
    body = {END.name: write_moment(end)}
    if visit.use_date_start > now:
        body = {START.name: write_moment(now + _SOON), END.name: write_moment(now + _SOON + _LENGTH)}
    return body | _new_code_without_places(visit)


def replace_code_and_places(visit: Visit, now: datetime) -> Body | None:
    """Return the body that replaces the code and removes areas and keys, with unchanged hours."""
    return _new_code_without_places(visit)


def replace_code(visit: Visit, now: datetime) -> Body | None:
    """Return the body that only replaces the code."""
    return {CODE.name: issuing.new_code()}


def remove_places(visit: Visit, now: datetime) -> Body | None:
    """Return the body that removes areas and keys and leaves the code unchanged; None if none are known."""
    return _without_places(visit) or None


METHODS: tuple[Callable[[Visit, datetime], Body | None], ...] = (
    end_in_past,
    end_soon,
    replace_code_and_places,
    replace_code,
    remove_places,
)


def next_body(visit: Visit, first: int, now: datetime) -> tuple[int, Body | None]:
    """Return the first possible method from number `first` on, and its body; None as body if no method is left."""
    for number in range(first, len(METHODS)):
        body = METHODS[number](visit, now)
        if body is not None:
            return number, body
    return len(METHODS), None


def _new_code_without_places(visit: Visit) -> Body:
    return {CODE.name: issuing.new_code(), **_without_places(visit)}


def _without_places(visit: Visit) -> Body:
    """Return empty lists for the places that the guest has.

    Lists that are already empty are left out, because a service without the contract may refuse areas or keys at all.
    """
    return {name: [] for name in _PLACES if _detail_of(visit).get(name)}


def _detail_of(visit: Visit) -> Mapping[str, Any]:
    guest = guest_of(visit)
    return guest.detail if guest is not None and isinstance(guest.detail, dict) else {}


def is_ended(visit: Visit, answer: ServiceGuest, now: datetime) -> bool:
    """Return whether this reading, which the mirror already has, proves that the code opens nothing."""
    end = answer.use_date_end or visit.use_date_end
    if end <= max(visit.must_end_at or now, now):
        return True
    body = (visit.cut_intent.body or {}) if visit.cut_intent is not None else {}
    if body.get(CODE.name):
        return bool(answer.qrcode_data == body[CODE.name])
    emptied_now = [name for name in _PLACES if name in body]
    return bool(emptied_now) and all(_detail_of(visit).get(name) == [] for name in emptied_now)
