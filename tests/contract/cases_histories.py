"""Operation 23: the log. Nothing is created here; the existing log of the tenant is read."""

from typing import Any

from accessapi import limits
from tests.contract import paging
from tests.contract.lab import UNKNOWN_TOKEN, House
from tests.contract.outcomes import Differs, NotTried
from tests.contract.registry import case
from tests.contract.shapes import MOMENT, Json, kind

_NAME = "list_histories"
_DEFAULT = ("history_id", "datetime", "status", "category", "_content", "member", "device")


def _records(house: House, **query: Any) -> list[Json]:
    return list(house.call(_NAME, query=query)["histories"])


def newest(house: House) -> list[Json]:
    """Return the first page of the log, as it is by default. Raises NotTried when the log is empty."""
    found = house.once("histories", lambda: _records(house))
    if not found:
        raise NotTried(_NAME, "the log is empty")
    return list(found)


def _window(house: House) -> Json:
    """Return since and until around the first page, so that new records change nothing."""
    times = [row["datetime"] for row in newest(house) if _is_moment(row.get("datetime"))]
    if not times:
        raise Differs(_NAME, "no record has a datetime")
    # The newest second may still get records.
    until = sorted(times)[-1]
    older = [time for time in times if time < until]
    return {"since": min(times), "until": max(older) if older else until}


def _is_moment(value: Any) -> bool:
    return isinstance(value, str) and bool(MOMENT.fullmatch(value))


@case(_NAME, "returns history_id, datetime, status, category, _content, member and device by default")
def shows_records(house: House) -> None:
    house.once("histories", lambda: _records(house))
    rows = newest(house)
    for row in rows:
        for name in ("history_id", "datetime"):
            if row.get(name) is None:
                raise Differs(_NAME, f"{name} is missing in a record")
    for name in _DEFAULT:
        # Some records lack a member or a device, such as a forced door. Some record must have each of them.
        if not any(name in row for row in rows) and (len(rows) >= 5 or name not in ("member", "device")):
            raise Differs(_NAME, f"{name} is missing in all of {len(rows)} records")


@case(_NAME, "is sorted by datetime, newest first by default, oldest first with sort=asc")
def sorts(house: House) -> None:
    window = _window(house)
    for sort, query in (("desc", {}), ("desc", {"sort": "desc"}), ("asc", {"sort": "asc"})):
        times = [row["datetime"] for row in _records(house, **window, **query)]
        if times != sorted(times, reverse=sort == "desc"):
            raise Differs(_NAME, f"expected datetimes in {sort} order with {query or 'no sort'}, got another order")


@case(_NAME, "takes since and until as inclusive bounds")
def bounds(house: House) -> None:
    rows = newest(house)
    middle = rows[len(rows) // 2]
    at = middle["datetime"]
    found = _records(house, since=at, until=at, limit=limits.PAGE_MAX)
    if any(row["datetime"] != at for row in found):
        raise Differs(_NAME, f"with since and until {at} it returns records of other times")
    if middle["history_id"] not in [row["history_id"] for row in found]:
        raise Differs(_NAME, "the bounds since and until are not inclusive: a record of exactly that time is missing")
    window = _window(house)
    for row in _records(house, **window, limit=limits.PAGE_MAX):
        if not window["since"] <= row["datetime"] <= window["until"]:
            raise Differs(_NAME, f"a record of {row['datetime']} lies outside since {window['since']}, until …")


@case(_NAME, "skips the first records by offset")
def skips(house: House) -> None:
    # Records of one second may be in any order, but the order of their times is certain.
    window = _window(house)
    times = [row["datetime"] for row in _records(house, **window, limit=10)]
    if len(set(times)) < 2:
        raise NotTried(_NAME, "the log has too few records to skip some")
    first = next(number for number, time in enumerate(times) if time != times[0])
    moved = [row["datetime"] for row in _records(house, **window, limit=10 - first, offset=first)]
    _records(house, **window, limit=1, offset=limits.HISTORY_OFFSET_MAX)
    if moved[: len(times) - first] != times[first:]:
        raise Differs(_NAME, f"with offset={first} the list does not begin {first} records later")


@case(_NAME, "returns what fields names")
def selects(house: House) -> None:
    wanted = "history_id,datetime"
    rows = _records(house, fields=wanted, limit=20)
    full = newest(house)
    for row in rows:
        for name in wanted.split(","):
            if not isinstance(row.get(name), str):
                raise Differs(_NAME, f"{name}: expected a string with fields={wanted}, got {kind(row.get(name))}")
    others = {name for name in _DEFAULT if name not in wanted.split(",") and any(name in row for row in full)}
    if others and rows and all(others <= row.keys() for row in rows) and all(others <= row.keys() for row in full):
        raise Differs(_NAME, f"with fields={wanted} it returns all default fields all the same")


@case(_NAME, "walked page by page gives each record once, and the same as one page")
def walks_records(house: House) -> None:
    paging.check_walk(house, _NAME, **_window(house))


@case(_NAME, "carries last_evaluated_key only when there is more")
def ends_records(house: House) -> None:
    paging.check_end(house, _NAME, **_window(house))


@case(_NAME, "has 100 on a page by default")
def pages_records(house: House) -> None:
    paging.check_default(house, _NAME, until=_window(house)["until"])


@case(_NAME, "refuses a limit outside 1 to 1000, an offset outside 0 to 1000, and another sort", refusal=True)
def refuses(house: House) -> None:
    paging.check_limits(house, _NAME)
    for offset in (-1, limits.HISTORY_OFFSET_MAX + 1):
        house.refused(_NAME, f"offset={offset}", query=[("offset", str(offset))])
    house.refused(_NAME, "sort=sideways", query=[("sort", "sideways")])
    house.refused(_NAME, "an unknown access token", token=UNKNOWN_TOKEN, worded=False)
