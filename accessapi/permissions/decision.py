"""Decide whether a member has access here at this moment, and by which rule.

Specification: "Entry permissions (devices_pass) and key permissions (keys_pass)" and the member's use period. Moments
are compared by whole seconds at +09:00; both ends of an item and of the use period are inclusive, so that 00:00:00 to
23:59:59 is the whole day (rule 3). Assumed, because not shown: an item whose start is after its end never gives access;
if an area or key is listed twice, any entry gives access; a key that is not listed in a listed key box is denied.

An answer is True, False, or None if rights hold an unknown value: then only the service can decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from accessapi.limits import JST
from accessapi.permissions.holidays import NO_HOLIDAYS, Holidays
from accessapi.permissions.passes import EVERY_DAY, HOLIDAY, WEEKDAYS, Json, read_edge, read_time, read_week
from accessapi.resources.members import Member


class DecisionRule(StrEnum):
    """The rule that decided."""

    BEFORE_USE = "before_use"
    AFTER_USE = "after_use"
    EVERYWHERE = "everywhere"
    NOWHERE = "nowhere"
    NOT_LISTED = "not_listed"
    ALWAYS = "always"
    NEVER = "never"
    SCHEDULE = "schedule"
    OUTSIDE_SCHEDULE = "outside_schedule"
    RIGHTS_NOT_READ = "rights_not_read"
    UNKNOWN_VALUE = "unknown_value"


@dataclass(frozen=True, slots=True)
class AreaPlace:
    """An area that a member enters."""

    area_id: str


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """One key of a key box that a member uses."""

    key_device_id: str
    unit_no: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision: `allowed` (None: unknown), the rule, the schedule item if one decided, and the day's holiday.

    `holiday` is None on an ordinary day, "" on a holiday without a name. `explain_decision` returns it in words.
    """

    allowed: bool | None
    rule: DecisionRule
    item: Json | None = None
    holiday: str | None = None


def decide(member: Member, place: AreaPlace | KeyPlace, at: datetime, holidays: Holidays = NO_HOLIDAYS) -> Decision:
    """Return the decision for a member as read by operation 5. Raises ValueError for a moment without a time zone.

    Rights that are missing in the record (the member list has none) give RIGHTS_NOT_READ, never a guess.
    """
    edges = {"use_date_start", "use_date_end"}
    if edges & set(member.invalid_values):
        return Decision(None, DecisionRule.UNKNOWN_VALUE)
    period = member.use_date_start, member.use_date_end
    list_name = "devices_pass" if isinstance(place, AreaPlace) else "keys_pass"
    rights = member.invalid_values.get(list_name, getattr(member, list_name))
    if list_name not in member.model_fields_set and list_name not in member.invalid_values:
        outside = _outside_use_period(period, _service_time(at))
        return outside or Decision(None, DecisionRule.RIGHTS_NOT_READ)
    return decide_place(rights, place, at, holidays, use_period=period)


def decide_place(
    rights: Any,
    place: AreaPlace | KeyPlace,
    at: datetime,
    holidays: Holidays = NO_HOLIDAYS,
    *,
    use_period: tuple[datetime | None, datetime | None] = (None, None),
) -> Decision:
    """Return the decision for rights as the service returns them: devices_pass for an area, keys_pass for a key.

    Omitted rights (None) are deny_all (rule 1).
    """
    moment = _service_time(at)
    outside = _outside_use_period(use_period, moment)
    if outside is not None:
        return outside
    holiday = holidays.name_of(moment.date())
    decisions = list(_decisions_by_mode(rights, place, lambda value: _decide_pass(value, moment, holidays, holiday)))
    return _best(decisions)


def _service_time(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise ValueError("a decision needs a moment with a time zone")
    return at.astimezone(JST).replace(tzinfo=None, microsecond=0)


def _outside_use_period(period: tuple[datetime | None, datetime | None], moment: datetime) -> Decision | None:
    start, end = period
    if start is not None and moment < _service_time(start):
        return Decision(False, DecisionRule.BEFORE_USE)
    if end is not None and moment > _service_time(end):
        return Decision(False, DecisionRule.AFTER_USE)
    return None


def _best(decisions: Iterable[Decision]) -> Decision:
    """Return a decision that allows access; else an unknown one; else the first refusal."""
    ranked = {True: 0, None: 1, False: 2}
    return min(decisions, key=lambda decision: ranked[decision.allowed])


DecidePass = Callable[[Any], Decision]
_UNKNOWN = Decision(None, DecisionRule.UNKNOWN_VALUE)
_KNOWN_DAYS = {EVERY_DAY, HOLIDAY, *WEEKDAYS}
_NOT_LISTED = Decision(False, DecisionRule.NOT_LISTED)


def _decisions_by_mode(rights: Any, place: AreaPlace | KeyPlace, decide_pass: DecidePass) -> Iterator[Decision]:
    if rights is None or rights == {}:
        yield Decision(False, DecisionRule.NOWHERE)
        return

    def decide_entry(entry: Json) -> list[Decision]:
        return [decide_pass(entry.get("pass"))]

    if isinstance(place, AreaPlace):
        yield from _decisions_of_list(rights, "areas_list", "area_id", place.area_id, decide_entry)
        return

    def units(box: Json) -> Iterator[Decision]:
        return _decisions_of_list(box, "units", "unit_no", place.unit_no, decide_entry)

    yield from _decisions_of_list(rights, "key_devices_list", "key_device_id", place.key_device_id, units)


def _decisions_of_list(
    holder: Any, list_name: str, identifier: str, place_id: str, decide_entry: Callable[[Json], Iterable[Decision]]
) -> Iterator[Decision]:
    mode = holder.get("default_mode") if isinstance(holder, dict) else None
    if mode == "allow_all":
        yield Decision(True, DecisionRule.EVERYWHERE)
    elif mode == "deny_all":
        yield Decision(False, DecisionRule.NOWHERE)
    elif mode == "option" and isinstance(holder.get(list_name, []), list):
        entries = [entry for entry in holder.get(list_name, []) if isinstance(entry, dict)]
        for entry in entries:
            if entry.get(identifier) == place_id:
                yield from decide_entry(entry)
        yield _NOT_LISTED
    else:
        yield _UNKNOWN


def _decide_pass(value: Any, moment: datetime, holidays: Holidays, holiday: str | None) -> Decision:
    effect = value.get("effect") if isinstance(value, dict) else None
    if effect == "allow_all":
        return Decision(True, DecisionRule.ALWAYS, holiday=holiday)
    if effect == "deny_all":
        return Decision(False, DecisionRule.NEVER, holiday=holiday)
    schedule = value.get("schedule") if isinstance(value, dict) else None
    if effect != "allow" or not isinstance(schedule, list):
        return _UNKNOWN
    verdicts = [(_is_item_in_force(item, moment, holidays, holiday is not None), item) for item in schedule]
    for verdict, item in verdicts:
        if verdict:
            return Decision(True, DecisionRule.SCHEDULE, item, holiday)
    if any(verdict is None for verdict, _ in verdicts):
        return _UNKNOWN
    return Decision(False, DecisionRule.OUTSIDE_SCHEDULE, holiday=holiday)


def _is_item_in_force(item: Any, moment: datetime, holidays: Holidays, on_holiday: bool) -> bool | None:
    """Return whether a schedule item covers the moment; None if the item has unknown values."""
    if not isinstance(item, dict):
        return None
    start, end = item.get("start"), item.get("end")
    if item.get("mode") == "range":
        first, last = read_edge(start), read_edge(end)
        return None if first is None or last is None else first <= moment <= last
    if item.get("mode") != "weekly" or not isinstance(start, dict) or not isinstance(end, dict):
        return None
    opens, closes = read_time(start.get("time")), read_time(end.get("time"))
    if opens is None or closes is None:
        return None
    if not opens <= moment.time() <= closes:
        return False
    return _is_day_listed(read_week(item.get("week")), moment, on_holiday, holidays.are_weekdays_applied)


def _is_day_listed(week: list[Any] | None, moment: datetime, on_holiday: bool, weekdays_apply: bool) -> bool | None:
    if week is None:
        return None
    today = {EVERY_DAY}
    if on_holiday:
        today.add(HOLIDAY)
    if weekdays_apply or not on_holiday:
        today.add(WEEKDAYS[moment.weekday()])
    if any(day in today for day in week if isinstance(day, str)):
        return True
    return False if all(isinstance(day, str) and day in _KNOWN_DAYS for day in week) else None
