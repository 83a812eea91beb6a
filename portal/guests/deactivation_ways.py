"""What ends a code: the ways of asking for it, one after another, and what proves that it is dead.

The specification does not say which hours a service takes: an end that is past, an end at the very start, or a start
that is past may each be refused. So there are several ways, and each that is refused, or changes nothing, gives place
to the next. The later ones put a code in the place of the old one that nobody has seen, and take areas and keys away,
so that the old one opens nothing whatever becomes of its hours.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from accessapi.resources import write_moment
from accessapi.resources.guests import Guest as Told
from portal.core.mirror.fields.guests import AREAS, CODE, END, KEYS, START
from portal.core.visits.models import Visit
from portal.core.visits.queries import guest_of
from portal.guests import issuing

Body = dict[str, Any]

_PLACES = (AREAS.name, KEYS.name)
# A period that is moved into the past is this long; one that is moved as near as can be begins and ends this soon.
_LENGTH = timedelta(minutes=1)
_SOON = timedelta(seconds=30)


def end_in_past(visit: Visit, now: datetime) -> Body | None:
    """End it at the moment at which it had to die; a period that had not begun by then moves into the past whole."""
    end = visit.must_end_at or now
    body = {END.name: write_moment(end)}
    if visit.use_date_start.replace(microsecond=0) < end.replace(microsecond=0):
        return body
    return {START.name: write_moment(end - _LENGTH), **body}


def end_soon(visit: Visit, now: datetime) -> Body | None:
    """For a service that takes nothing past: another code, which opens nothing, for a few moments from now."""
    end = min(now + _SOON + _LENGTH, max(visit.use_date_end, now + _SOON))
    body = {END.name: write_moment(end)}
    if visit.use_date_start > now:
        body = {START.name: write_moment(now + _SOON), END.name: write_moment(now + _SOON + _LENGTH)}
    return body | _new_code_without_places(visit)


def replace_code_and_places(visit: Visit, now: datetime) -> Body | None:
    """Leave the hours as they are: another code, and no area or key."""
    return _new_code_without_places(visit)


def replace_code(visit: Visit, now: datetime) -> Body | None:
    """Another code alone."""
    return {CODE.name: issuing.new_code()}


def remove_places(visit: Visit, now: datetime) -> Body | None:
    """No area and no key, with the code as it is. None where none are known."""
    return _without_places(visit) or None


WAYS: tuple[Callable[[Visit, datetime], Body | None], ...] = (
    end_in_past,
    end_soon,
    replace_code_and_places,
    replace_code,
    remove_places,
)


def next_body(visit: Visit, way: int, now: datetime) -> tuple[int, Body | None]:
    """The first way from this number on that there is for the visit, and its body; None when none is left."""
    for number in range(way, len(WAYS)):
        body = WAYS[number](visit, now)
        if body is not None:
            return number, body
    return len(WAYS), None


def _new_code_without_places(visit: Visit) -> Body:
    return {CODE.name: issuing.new_code(), **_without_places(visit)}


def _without_places(visit: Visit) -> Body:
    """Only lists that hold something: a service without the contract may refuse to hear of areas or keys at all."""
    return {name: [] for name in _PLACES if _detail_of(visit).get(name)}


def _detail_of(visit: Visit) -> Mapping[str, Any]:
    guest = guest_of(visit)
    return guest.detail if guest is not None and isinstance(guest.detail, dict) else {}


def is_ended(visit: Visit, told: Told, now: datetime) -> bool:
    """Whether this reading, which the mirror knows already, proves that the code opens nothing any more."""
    end = told.use_date_end or visit.use_date_end
    if end <= max(visit.must_end_at or now, now):
        return True
    asked = (visit.cut_intent.body or {}) if visit.cut_intent is not None else {}
    if asked.get(CODE.name):
        return bool(told.qrcode_data == asked[CODE.name])
    emptied_now = [name for name in _PLACES if name in asked]
    return bool(emptied_now) and all(_detail_of(visit).get(name) == [] for name in emptied_now)
