"""One pass in everyday words: "weekdays 08:00 to 12:00 and 13:00 to 19:00, and 1 December 2026 all day".

Days with the same times and times of the same days are joined. Message ids are English and begin in lower case;
`translate` (such as gettext) translates them. Unknown values are quoted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from typing import Any

from accessapi.permissions.passes import (
    DAY_END,
    DAY_START,
    EVERY_DAY,
    HOLIDAY,
    WEEKDAYS,
    Json,
    read_edge,
    read_time,
    read_week,
)

Translate = Callable[[str], str]
DAYS = (*WEEKDAYS, HOLIDAY)
Times = tuple[time, time]
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def phrase_pass(pass_: Any, translate: Translate = str) -> str:
    """Return when a pass gives access, in a few words: always, never, or its joined schedule."""
    _ = translate
    effect = pass_.get("effect") if isinstance(pass_, dict) else None
    if effect == "allow_all":
        return _("at any time")
    if effect == "deny_all":
        return _("never")
    schedule = pass_.get("schedule") if isinstance(pass_, dict) else None
    if effect != "allow" or not isinstance(schedule, list):
        return _("unknown setting: %(value)s") % {"value": _shorten(effect or pass_)}
    return phrase_schedule(schedule, _)


def phrase_schedule(items: Sequence[Any], translate: Translate = str) -> str:
    """Return the items of a schedule as one phrase: the week, then the dates, then unknown values unchanged."""
    _ = translate
    if not items:
        return _("never (no times set yet)")
    weekly = [read for item in items if (read := read_weekly(item)) is not None]
    ranges = [edges for item in items if (edges := read_range(item)) is not None]
    parts = [_phrase_weekly(days, times, _) for days, times in _group_days(weekly)]
    parts += [_phrase_range(first, last, _) for first, last in sorted(ranges)]
    strange = [item for item in items if read_weekly(item) is None and read_range(item) is None]
    parts += [_("unknown setting: %(value)s") % {"value": _shorten(item)} for item in strange]
    return _join_phrases(parts, _)


def read_weekly(item: Any) -> tuple[frozenset[str], Times] | None:
    """Return the days (holidays as a separate day) and times of a weekly item; None if it holds unknown values."""
    if not isinstance(item, dict) or item.get("mode") != "weekly":
        return None
    opens, closes, week = _time(item.get("start")), _time(item.get("end")), read_week(item.get("week"))
    if opens is None or closes is None or week is None or not all(isinstance(day, str) for day in week):
        return None
    if EVERY_DAY in week:
        return (frozenset(DAYS), (opens, closes))
    return (frozenset(week), (opens, closes)) if set(week) <= set(DAYS) else None


def read_range(item: Any) -> tuple[datetime, datetime] | None:
    """Return the first and the last moment of a range item in service time; None if either is unknown."""
    if not isinstance(item, dict) or item.get("mode") != "range":
        return None
    first, last = read_edge(item.get("start")), read_edge(item.get("end"))
    return (first, last) if first and last else None


def phrase_days(days: Iterable[str], translate: Translate = str) -> str:
    """Return a set of days in words: "weekdays", "Monday to Wednesday and holidays", "every day including holidays"."""
    _ = translate
    chosen = set(days)
    if chosen == set(DAYS):
        return _("every day including holidays")
    if chosen == set(WEEKDAYS):
        return _("every day but holidays")
    if not chosen:
        return _("no day")
    week, parts = [day for day in WEEKDAYS if day in chosen], []
    if week[:5] == list(WEEKDAYS[:5]):
        parts, week = [_("weekdays")], week[5:]
    elif week[-2:] == list(WEEKDAYS[5:]) and len(week) == 2:
        parts, week = [_("weekends")], []
    for run in _consecutive_days(week):
        if len(run) > 2:
            parts.append(_("%(first)s to %(last)s") % {"first": _(run[0]), "last": _(run[-1])})
        else:
            parts += [_(day) for day in run]
    return _join_names([*parts, *([_("holidays")] if HOLIDAY in chosen else [])], _)


def format_time(at: time, *, is_closing: bool = False) -> str:
    """Return 08:00, with seconds only if there are any; the last second of a day closes at 24:00."""
    if is_closing and at == DAY_END:
        return "24:00"
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def phrase_date(day: date, translate: Translate = str) -> str:
    _ = translate
    return _("%(day)d %(month)s %(year)d") % {"day": day.day, "month": _(_MONTHS[day.month - 1]), "year": day.year}


def _group_days(weekly: list[tuple[frozenset[str], Times]]) -> list[tuple[frozenset[str], list[Times]]]:
    """Return days with their times, in the order of a week.

    Days with the same times are joined first, then times of the same days.
    """
    by_times: dict[Times, set[str]] = {}
    for days, times in weekly:
        by_times.setdefault(times, set()).update(days)
    by_days: dict[frozenset[str], list[Times]] = {}
    for times, found in sorted(by_times.items()):
        by_days.setdefault(frozenset(found), []).append(times)
    return sorted(by_days.items(), key=lambda pair: (min(map(DAYS.index, pair[0]), default=9), pair[1]))


def _phrase_weekly(days: frozenset[str], times: list[Times], translate: Translate) -> str:
    _ = translate
    if times == [(DAY_START, DAY_END)]:
        return _("%(days)s all day") % {"days": phrase_days(days, _)}
    return _("%(days)s %(times)s") % {
        "days": phrase_days(days, _),
        "times": _join_names([_phrase_hours(t, _) for t in times], _),
    }


def _phrase_hours(times: Times, translate: Translate) -> str:
    _ = translate
    opens, closes = times
    text = _("%(start)s to %(end)s") % {"start": format_time(opens), "end": format_time(closes, is_closing=True)}
    return _("%(hours)s (never: it ends before it begins)") % {"hours": text} if closes < opens else text


def _phrase_range(first: datetime, last: datetime, translate: Translate) -> str:
    _ = translate
    is_all_day = (first.time(), last.time()) == (DAY_START, DAY_END)
    if first.date() == last.date() and first <= last:
        day = phrase_date(first.date(), _)
        if is_all_day:
            return _("%(days)s all day") % {"days": day}
        return _("%(days)s %(times)s") % {"days": day, "times": _phrase_hours((first.time(), last.time()), _)}
    edges = {"first": phrase_date(first.date(), _), "last": phrase_date(last.date(), _)}
    if is_all_day and first < last:
        return _("%(first)s to %(last)s") % edges
    edges |= {"opens": format_time(first.time()), "closes": format_time(last.time(), is_closing=True)}
    text = _("from %(first)s %(opens)s to %(last)s %(closes)s") % edges
    return _("%(hours)s (never: it ends before it begins)") % {"hours": text} if last < first else text


def _consecutive_days(week: list[str]) -> list[list[str]]:
    """Return the days in groups of consecutive days."""
    found: list[list[str]] = []
    for day in week:
        if found and WEEKDAYS.index(day) == WEEKDAYS.index(found[-1][-1]) + 1:
            found[-1].append(day)
        else:
            found.append([day])
    return found


def _join_names(parts: list[str], translate: Translate) -> str:
    """Return short names as a list: "Monday, Thursday and holidays"."""
    _ = translate
    if len(parts) < 2:
        return "".join(parts)
    text, *more, last = parts
    for part in more:
        text = _("%(list)s, %(next)s") % {"list": text, "next": part}
    return _("%(list)s and %(last)s") % {"list": text, "last": last}


def _join_phrases(parts: list[str], translate: Translate) -> str:
    """Return whole phrases as a list, separated so that an "and" inside one of them is not ambiguous."""
    _ = translate
    if len(parts) < 2:
        return "".join(parts)
    return _("%(list)s, and %(last)s") % {"list": _("; ").join(parts[:-1]), "last": parts[-1]}


def _time(edge: Any) -> time | None:
    return read_time(edge.get("time")) if isinstance(edge, dict) else None


def _shorten(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:79] + "…"


__all__ = [
    "DAYS",
    "Json",
    "format_time",
    "phrase_date",
    "phrase_days",
    "phrase_pass",
    "phrase_schedule",
    "read_range",
    "read_weekly",
]  # fmt: skip
