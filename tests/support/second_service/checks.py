"""Checks that a request is within the limits of the specification."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from tests.support.second_service.answers import Call, Json, Refusal

JST = timezone(timedelta(hours=9))
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+09:00")


def invalid(detail: str) -> Refusal:
    """Return the refusal of an invalid field of a body, with this service's own status and code."""
    return Refusal(422, 42217, detail)


def bad_query(detail: str) -> Refusal:
    return Refusal(400, 40002, detail)


def moment(text: Any) -> datetime:
    """Parse a datetime. Raises ValueError for anything but the one format."""
    if not isinstance(text, str) or not _MOMENT.fullmatch(text):
        raise ValueError(text)
    return datetime.fromisoformat(text)


def said(at: datetime) -> str:
    return at.astimezone(JST).strftime("%Y-%m-%dT%H:%M:%S+09:00")


def now() -> datetime:
    return datetime.now(JST).replace(microsecond=0)


class Body:
    """The fields of a JSON object, taken one by one. Fields left over at the end are refused."""

    def __init__(self, call: Call, data: Any, name: str = "the body") -> None:
        if not isinstance(data, dict):
            raise invalid(f"{name} is no object")
        self.call, self.data, self.name = call, data, name
        self.seen: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self.data

    def take(self, name: str, fits: Callable[[Any], bool], *, required: bool = False, nullable: bool = False) -> Any:
        """Return the value of a field, None when it is absent."""
        self.seen.add(name)
        value = self.data.get(name)
        if self.call.unchecked(name):
            return value
        if name not in self.data:
            if required:
                raise invalid(f"{name} is missing in {self.name}")
            return None
        if value is None and nullable:
            return None
        if value is None or not fits(value):
            raise invalid(f"{name} in {self.name} does not fit")
        return value

    def text(self, name: str, most: int = 100_000, least: int = 0, **more: bool) -> Any:
        return self.take(name, lambda value: isinstance(value, str) and least <= len(value) <= most, **more)

    def number(self, name: str, least: int, most: int, **more: bool) -> Any:
        return self.take(name, lambda value: type(value) is int and least <= value <= most, **more)

    def flag(self, name: str, **more: bool) -> Any:
        return self.take(name, lambda value: isinstance(value, bool), **more)

    def one_of(self, name: str, words: Sequence[str], **more: bool) -> Any:
        return self.take(name, lambda value: isinstance(value, str) and value in words, **more)

    def items(self, name: str, most: int, fits: Callable[[Any], bool] = lambda item: True, **more: bool) -> Any:
        return self.take(
            name, lambda value: isinstance(value, list) and len(value) <= most and all(map(fits, value)), **more
        )

    def at(self, name: str, **more: bool) -> Any:
        def fits(value: Any) -> bool:
            try:
                moment(value)
            except ValueError:
                return False
            return True

        return self.take(name, fits, **more)

    def end(self) -> None:
        if strange := sorted(set(self.data) - self.seen):
            raise invalid(f"{self.name} knows no {strange[0]}")


def whole(call: Call, name: str, least: int, most: int, default: int) -> int:
    """Return a whole number of the query."""
    text = call.asked(name, str(default))
    if call.unchecked(name):
        return int(text)
    if not re.fullmatch(r"\d{1,6}", text) or not least <= int(text) <= most:
        raise bad_query(f"{name} is from {least} to {most}")
    return int(text)


def page(call: Call, rows: list[Json], key: str, view: Callable[[Json], Json]) -> Json:
    """Return one page of rows, which are in order and have a unique `_seq` each.

    The cursor is a long text with every awkward character, and is bound to its query.
    """
    flaw = f"{key}_"
    default = 50 if call.has(flaw + "default_of_50") else 100
    limit = whole(call, "limit", 1, call.most(1000, flaw + "limit_of_1000_refused"), default)
    if call.has(flaw + "limit_ignored"):
        limit = 1000
    same = {name: values for name, values in call.query.items() if name != "last_evaluated_key"}
    mark = hashlib.sha256(json.dumps(same, sort_keys=True).encode()).hexdigest()
    start = 0
    if cursor := call.asked("last_evaluated_key"):
        start = _after(cursor, mark, rows)
        if call.has(flaw + "page_repeated"):
            start = 0
    elif key == "histories" and not call.has("offset_ignored"):
        start = whole(call, "offset", 0, call.most(1000, "offset_of_1000_refused"), 0)
    shown = rows[start : start + limit]
    answer: Json = {key: [view(row) for row in shown], "took": 0.01}
    more = start + limit < len(rows)
    if shown and (more or call.has(flaw + "cursor_on_the_last_page")):
        last = {"a": "+/=&?#% ;,é漢" * 4, "seq": shown[-1]["_seq"], "mark": mark}
        answer["last_evaluated_key"] = json.dumps(last, ensure_ascii=False)
    if more and call.has(flaw + "cursor_missing"):
        del answer["last_evaluated_key"]
    return answer


def _after(cursor: str, mark: str, rows: list[Json]) -> int:
    try:
        last = json.loads(cursor)
        wanted, given = last["seq"], last["mark"]
    except (ValueError, KeyError, TypeError):
        raise bad_query("last_evaluated_key is not one of ours") from None
    if given != mark:
        raise bad_query("last_evaluated_key belongs to another query")
    places = [index for index, row in enumerate(rows) if row["_seq"] == wanted]
    if not places:
        raise bad_query("last_evaluated_key is too old")
    return places[0] + 1
