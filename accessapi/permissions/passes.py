"""The innermost level of rights: a pass { effect, schedule } and its schedule items, in canonical form.

Everything here is plain JSON values. Unknown values are kept unchanged.
"""

from __future__ import annotations

import json
import re
from datetime import date, datetime, time
from typing import Any

Json = dict[str, Any]

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOLIDAY = "Holiday"
EVERY_DAY = "*"
_DAYS = (*WEEKDAYS, HOLIDAY)
_TIME = re.compile(r"([0-9]{2}:[0-9]{2}:[0-9]{2})(\+09:00)?\Z")

DAY_START, DAY_END = time(0, 0, 0), time(23, 59, 59)


def always() -> Json:
    """Return a pass that always gives access."""
    return {"effect": "allow_all"}


def never() -> Json:
    """Return a pass that never gives access."""
    return {"effect": "deny_all"}


def by_schedule(*items: Json) -> Json:
    """Return a pass that gives access while any of the schedule items applies."""
    return {"effect": "allow", "schedule": list(items)}


def weekly(start: str, end: str, *days: str) -> Json:
    """Return a weekly item from hh:mm:ss to hh:mm:ss, both inclusive; no days mean every day including holidays."""
    week = list(days) or [EVERY_DAY]
    return {
        "mode": "weekly",
        "start": {"time": f"{start}+09:00"},
        "end": {"time": f"{end}+09:00"},
        "week": week,
    }


def all_day(*days: str) -> Json:
    """Return a weekly item for whole days (specification, rule 3)."""
    return weekly("00:00:00", "23:59:59", *days)


def between(start: datetime, end: datetime) -> Json:
    """Return a range item between two moments, both inclusive, in service time (+09:00) and whole seconds."""
    edges = [{"date": f"{edge:%Y-%m-%d}", "time": f"{edge:%H:%M:%S}+09:00"} for edge in (start, end)]
    return {"mode": "range", "start": edges[0], "end": edges[1]}


def read_time(value: Any) -> time | None:
    """Return a time of day, or None if it is not hh:mm:ss at +09:00."""
    match = _TIME.match(value) if isinstance(value, str) else None
    try:
        return time.fromisoformat(match.group(1)) if match else None
    except ValueError:
        return None


def read_edge(edge: Any) -> datetime | None:
    """Return a { date, time } as a moment in service time (without tzinfo), or None."""
    if not isinstance(edge, dict) or not isinstance(edge.get("date"), str):
        return None
    at = read_time(edge.get("time"))
    try:
        return datetime.combine(date.fromisoformat(edge["date"]), at) if at else None
    except ValueError:
        return None


def read_week(value: Any) -> list[Any] | None:
    """Return the day names of a weekly item; the bare value * counts as an array of one. None if it is neither."""
    if isinstance(value, str):
        return [value]
    return value if isinstance(value, list) else None


def sort_key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)


def normal_pass(value: Any) -> Any:
    """Return a pass in canonical form: no schedule beside allow_all or deny_all, items sorted and distinct."""
    if not isinstance(value, dict):
        return value
    if value.get("effect") in ("allow_all", "deny_all"):
        return {name: part for name, part in value.items() if name != "schedule"}
    if value.get("effect") == "allow" and isinstance(value.get("schedule"), list):
        return {**value, "schedule": _normal_schedule(value["schedule"])}
    return dict(value)


def _normal_schedule(items: list[Any]) -> list[Any]:
    distinct = {sort_key(item): item for item in map(_normal_item, items)}
    return [distinct[key] for key in sorted(distinct)]


def _normal_item(item: Any) -> Any:
    if not isinstance(item, dict) or item.get("mode") != "weekly":
        return item
    week = read_week(item.get("week"))
    if week is None or not all(day in (*_DAYS, EVERY_DAY) for day in week if isinstance(day, str)):
        return item
    if not all(isinstance(day, str) for day in week):
        return item
    if EVERY_DAY in week or set(week) == set(_DAYS):
        return {**item, "week": [EVERY_DAY]}
    return {**item, "week": [day for day in _DAYS if day in week]}


def merge_passes(first: Json, second: Json) -> Json:
    """Return one pass that gives access whenever one of two plain passes does."""
    effects = {first["effect"], second["effect"]}
    if "allow_all" in effects:
        return always()
    if effects == {"deny_all"}:
        return never()
    merged: Json = normal_pass(by_schedule(*first.get("schedule", []), *second.get("schedule", [])))
    return merged


def is_plain(value: Any) -> bool:
    """Return whether a pass has the specified shape and nothing more; its schedule items may still be unknown ones."""
    if not isinstance(value, dict) or not set(value) <= {"effect", "schedule"}:
        return False
    if value.get("effect") == "allow":
        return isinstance(value.get("schedule"), list)
    return value.get("effect") in ("allow_all", "deny_all")
