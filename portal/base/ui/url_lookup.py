"""The service's IDs in the portal's URLs, and finding the row that a URL names.

The service chooses its IDs; any text must give a working link.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar
from urllib.parse import quote, unquote

from django.db.models import Model, QuerySet
from django.http import Http404
from django.urls import register_converter, reverse
from django.urls.converters import get_converters

from tenants.postgresql.compiled_queries import CompiledQuery

_Row = TypeVar("_Row", bound=Model)
# PostgreSQL cannot compare with larger numbers.
_LARGEST = 2**63


@lru_cache(maxsize=16_384)
def url_in_tenant(name: str, slug: str, *more: str) -> str:
    """Return the URL of `name` in the tenant `slug`. Cached, because every page needs the same few."""
    return reverse(name, args=[slug, *more])


class ServiceId:
    """`<sid:member_id>`: an ID as one path segment. Special characters are written as ~XX, byte by byte."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        return "" if value == "~" else unquote(value.replace("~", "%"), errors="replace")

    def to_url(self, value: str) -> str:
        text = str(value)
        if text.isascii() and text.isalnum():  # the usual case; lists call this hundreds of times
            return text
        if not text:
            return "~"
        if not text.strip("."):  # browsers resolve a segment of only dots as a relative path
            return "~2E" * len(text)
        return quote(text, safe="").replace("~", "%7E").replace("%", "~")


def register() -> None:
    """Register the converter. Call it before any URL is resolved; calling it again is harmless."""
    if "sid" not in get_converters():
        register_converter(ServiceId, "sid")


def is_row_number(text: str) -> bool:
    """Return whether a text is a row's number that PostgreSQL can compare."""
    return text.isascii() and text.isdecimal() and len(text) < 19


def get_row_or_404(rows: "QuerySet[_Row]", **named: str | int) -> _Row:
    """Return the row with these values in the tenant in scope. Raises Http404, also for another tenant's row."""
    row = rows.filter(**named).first() if _are_comparable(named) else None
    if row is None:
        raise Http404
    return row


class RowLookup(Generic[_Row]):
    """A fast look-up for URLs that are requested often: `_areas = RowLookup(Area.objects.all, area_id="")`.

    The SQL is built and planned once; see `CompiledQuery` for what `build` may depend on.
    """

    def __init__(self, build: "Callable[[], QuerySet[_Row]]", **kinds: int | str) -> None:
        def found(**named: str | int) -> "QuerySet[_Row]":
            return build().filter(**named).order_by("pk")[:1]

        self._kept = CompiledQuery[_Row](found, plan_each_time=False, **kinds)

    def get_or_404(self, **named: str | int) -> _Row:
        """Return the same as `get_row_or_404`."""
        for row in self._kept.rows(**named) if _are_comparable(named) else []:
            return row
        raise Http404


def _are_comparable(named: dict[str, str | int]) -> bool:
    return all("\x00" not in each if isinstance(each, str) else each < _LARGEST for each in named.values())
