"""Cursor pagination (specification: Limits): opaque keys, each for one query only."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from django.core import signing

from accessapi import limits
from sandbox.errors import invalid

from .call import Call


@dataclass(frozen=True)
class PageRequest:
    """The rows of one page: `size` of them after the row with key `after` (0: the first ones), for `query`."""

    size: int
    after: Any
    salt: str
    query: dict[str, str]

    def load_page(self, rows: Any, key: Callable[[Any], Any]) -> tuple[list[Any], dict[str, str]]:
        """Return the page's rows out of these, and `last_evaluated_key` with the last row's `key` if there are more."""
        found = list(rows[: self.size + 1])
        if len(found) <= self.size:
            return found, {}
        shown = found[: self.size]
        last = [key(shown[-1]), sorted(self.query.items())]
        return shown, {"last_evaluated_key": signing.dumps(last, salt=self.salt, compress=True)}


def read_page_request(call: Call, query: dict[str, str]) -> PageRequest:
    """Return the page from limit and last_evaluated_key. Raises 40002, also if the rest of the query changed."""
    size = read_whole_number(query, "limit", limits.PAGE_DEFAULT, limits.PAGE_MIN, limits.PAGE_MAX)
    others = {name: value for name, value in query.items() if name != "last_evaluated_key"} | {"limit": str(size)}
    salt = f"page|{call.tenant.tenant_id}|{call.operation.number}"
    if "last_evaluated_key" not in query:
        return PageRequest(size, 0, salt, others)
    try:
        after, given = signing.loads(query["last_evaluated_key"], salt=salt)
    except signing.BadSignature:
        raise invalid("last_evaluated_key: not a key of this list") from None
    if given != [list(pair) for pair in sorted(others.items())]:
        raise invalid("last_evaluated_key: belongs to a query with other parameters")
    return PageRequest(size, after, salt, others)


def read_whole_number(query: dict[str, str], name: str, default: int, minimum: int, maximum: int) -> int:
    """Return a whole number between two bounds. Raises 40002."""
    text = query.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 10 and minimum <= int(text) <= maximum):
        raise invalid(f"{name}: must be a whole number from {minimum} to {maximum}")
    return int(text)


def read_field_names(query: dict[str, str], allowed: Collection[str]) -> list[str]:
    """Return the names in the parameter `fields`, comma-separated. Raises 40002 for one that is not allowed."""
    named = query["fields"].split(",") if "fields" in query else []
    if strange := [name for name in named if name not in allowed]:
        raise invalid(f"fields: {strange[0][:40]} is not a field that can be added")
    return named
