"""Rights and decisions as sentences a person can check.

The sentences are English message ids; `translate` (gettext or anything like it) puts them into the reader's
language, `names` puts in the names of areas and key boxes. Unknown values are quoted as they came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from accessapi.permissions.decision import Decision, Rule
from accessapi.permissions.normal import normalise_devices, normalise_keys
from accessapi.permissions.passes import DAY_END, DAY_START, EVERY_DAY, WEEKDAYS, read_edge, read_time, read_week

Translate = Callable[[str], str]
Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """One statement: about an area or key box (`target`), one of its keys (`unit_no`), or everything
    (None).
    """

    target: str | None
    unit_no: str | None
    text: str


def describe_devices(rights: Any, translate: Translate = str, names: Names | None = None) -> list[Line]:
    """Return devices_pass in sentences, one per area, or one for all."""
    _ = translate
    normal = normalise_devices(rights)
    mode = normal.get("default_mode")
    if mode == "allow_all":
        return [Line(None, None, _("Every area, including areas added later"))]
    if mode == "deny_all":
        return [Line(None, None, _("No area"))]
    if mode != "option" or not isinstance(normal.get("areas_list"), list):
        return [_unknown(None, None, mode, _)]
    return [_pass_line(entry, "area_id", None, _, names or {}) for entry in normal["areas_list"]]


def describe_keys(rights: Any, translate: Translate = str, names: Names | None = None) -> list[Line]:
    """Return keys_pass in sentences, one per key box or key, or one for all."""
    _ = translate
    normal = normalise_keys(rights)
    mode = normal.get("default_mode")
    if mode == "allow_all":
        return [Line(None, None, _("Every key box, including key boxes added later"))]
    if mode == "deny_all":
        return [Line(None, None, _("No key"))]
    if mode != "option" or not isinstance(normal.get("key_devices_list"), list):
        return [_unknown(None, None, mode, _)]
    return [line for box in normal["key_devices_list"] for line in _box_lines(box, _, names or {})]


def _box_lines(box: Any, translate: Translate, names: Names) -> list[Line]:
    _ = translate
    if not isinstance(box, dict):
        return [_unknown(None, None, box, _)]
    device = box.get("key_device_id")
    target = device if isinstance(device, str) else None
    name = names.get(target or "", str(device))
    if box.get("default_mode") == "allow_all":
        return [Line(target, None, _("%(place)s: every key, including keys added later") % {"place": name})]
    if box.get("default_mode") == "deny_all":
        return [Line(target, None, _("%(place)s: no key") % {"place": name})]
    if box.get("default_mode") != "option" or not isinstance(box.get("units", []), list):
        return [_unknown(target, None, box.get("default_mode"), _)]
    return [_pass_line(unit, "unit_no", target, _, names) for unit in box.get("units", [])]


def _unknown(target: str | None, unit_no: str | None, value: Any, translate: Translate) -> Line:
    _ = translate
    return Line(target, unit_no, _("Unknown setting: %(value)s") % {"value": _short(value)})


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _pass_line(entry: Any, identifier: str, box: str | None, translate: Translate, names: Names) -> Line:
    _ = translate
    name = entry.get(identifier) if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(name, str):
        return _unknown(box, None, entry, _)
    if box is None:
        target, unit_no, place = name, None, names.get(name, name)
    else:
        target, unit_no = box, name
        place = _("%(box)s, key %(unit)s") % {"box": names.get(box, box), "unit": name}
    when = describe_pass(entry.get("pass"), _)
    return Line(target, unit_no, _("%(place)s: %(when)s") % {"place": place, "when": when})


def describe_pass(pass_: Any, translate: Translate = str) -> str:
    """Return one pass in words: always, never, or its schedule."""
    _ = translate
    effect = pass_.get("effect") if isinstance(pass_, dict) else None
    if effect == "allow_all":
        return _("at any time")
    if effect == "deny_all":
        return _("never")
    schedule = pass_.get("schedule") if isinstance(pass_, dict) else None
    if effect != "allow" or not isinstance(schedule, list):
        return _("unknown setting: %(value)s") % {"value": _short(effect)}
    if not schedule:
        return _("never (no times set yet)")
    return _("; ").join(describe_item(item, _) for item in schedule)


def describe_item(item: Any, translate: Translate = str) -> str:
    """Return one schedule item in words, times at +09:00."""
    _ = translate
    fields = item if isinstance(item, dict) else {}
    if fields.get("mode") == "range":
        first, last = read_edge(fields.get("start")), read_edge(fields.get("end"))
        if first and last:
            edges = {"start": f"{first:%Y-%m-%d %H:%M:%S}", "end": f"{last:%Y-%m-%d %H:%M:%S}"}
            return _("from %(start)s to %(end)s") % edges
    elif fields.get("mode") == "weekly":
        opens, closes = _time_of(fields.get("start")), _time_of(fields.get("end"))
        week = read_week(fields.get("week"))
        if opens is not None and closes is not None and week is not None:
            if (opens, closes) == (DAY_START, DAY_END):
                return _("%(days)s, all day") % {"days": _days(week, _)}
            parts = {"days": _days(week, _), "start": f"{opens:%H:%M:%S}", "end": f"{closes:%H:%M:%S}"}
            return _("%(days)s, %(start)s to %(end)s") % parts
    return _("unknown setting: %(value)s") % {"value": _short(item)}


def _time_of(edge: Any) -> Any:
    return read_time(edge.get("time")) if isinstance(edge, dict) else None


def _days(week: list[Any], translate: Translate) -> str:
    _ = translate
    if EVERY_DAY in week:
        return _("every day including holidays")
    if not week:
        return _("no day")
    words = {
        "Monday": _("Monday"),
        "Tuesday": _("Tuesday"),
        "Wednesday": _("Wednesday"),
        "Thursday": _("Thursday"),
        "Friday": _("Friday"),
        "Saturday": _("Saturday"),
        "Sunday": _("Sunday"),
        "Holiday": _("holidays"),
    }
    if week[:5] == list(WEEKDAYS[:5]):
        rest = [words.get(day, str(day)) if isinstance(day, str) else str(day) for day in week[5:]]
        return _(", ").join([_("Monday to Friday"), *rest])
    return _(", ").join(words.get(day, str(day)) if isinstance(day, str) else str(day) for day in week)


def explain(decision: Decision, translate: Translate = str) -> str:
    """Return why the answer is what it is, in one sentence."""
    _ = translate
    sentences = {
        Rule.BEFORE_USE: _("Refused: the use period has not begun."),
        Rule.AFTER_USE: _("Refused: the use period is over."),
        Rule.EVERYWHERE: _("Allowed: everything here is allowed, including what is added later."),
        Rule.NOWHERE: _("Refused: no access rights."),
        Rule.NOT_LISTED: _("Refused: no access right for it."),
        Rule.ALWAYS: _("Allowed at any time."),
        Rule.NEVER: _("Refused: set to “never”."),
        Rule.OUTSIDE_SCHEDULE: _("Refused: outside the scheduled hours."),
        Rule.RIGHTS_NOT_READ: _("Unknown: this member's rights are not loaded yet."),
        Rule.UNKNOWN_VALUE: _("Unknown: these rights use a setting this portal does not recognise."),
    }
    if decision.rule is Rule.SCHEDULE:
        text = _("Allowed by the schedule: %(item)s.") % {"item": describe_item(decision.item, _)}
    else:
        text = sentences[decision.rule]
    if decision.holiday is None:
        return text
    holiday = decision.holiday or _("a weekly holiday")
    return _("%(text)s The day is a holiday (%(holiday)s).") % {"text": text, "holiday": holiday}
