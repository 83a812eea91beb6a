"""Functions that change a field of an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Alter = Callable[[Any], Any]


def without(*path: str) -> Alter:
    """Return a function that removes a field. A list on the path means each of its items."""

    def alter(data: Any) -> Any:
        for owner in _owners(data, path):
            owner.pop(path[-1], None)
        return data

    return alter


def changed(*path: str, to: Alter) -> Alter:
    """Return a function that replaces the value of a field if it exists."""

    def alter(data: Any) -> Any:
        for owner in _owners(data, path):
            if path[-1] in owner:
                owner[path[-1]] = to(owner[path[-1]])
        return data

    return alter


def _owners(data: Any, path: tuple[str, ...]) -> list[dict[str, Any]]:
    found = data if isinstance(data, list) else [data]
    for name in path[:-1]:
        inner = [owner[name] for owner in found if isinstance(owner, dict) and name in owner]
        found = [item for each in inner for item in (each if isinstance(each, list) else [each])]
    return [owner for owner in found if isinstance(owner, dict)]


def utc(text: Any) -> Any:
    return text.replace("+09:00", "+00:00") if isinstance(text, str) else text


def spaced(text: Any) -> Any:
    return text.replace("T", " ") if isinstance(text, str) else text


def number(value: Any) -> Any:
    return 7 if isinstance(value, str) else value
