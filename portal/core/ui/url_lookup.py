"""The service's ids in our addresses, and looking up what an address names.

Ids are strings of the service's choosing, and any of them must give a working link.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar
from urllib.parse import quote, unquote

from django.db.models import Model, QuerySet
from django.http import Http404
from django.urls import register_converter, reverse
from django.urls.converters import get_converters

from tenants.compiled_queries import CompiledQuery

_Row = TypeVar("_Row", bound=Model)
# PostgreSQL compares with no larger number.
_LARGEST = 2**63


@lru_cache(maxsize=16_384)
def url_in_tenant(name: str, slug: str, *more: str) -> str:
    """The address of `name` in the tenant `slug`. Remembered: every page asks for the same few."""
    return reverse(name, args=[slug, *more])


class ServiceId:
    """`<sid:member_id>`: an id as one path segment. Whatever is not plain is written as ~XX, byte by byte."""

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        return "" if value == "~" else unquote(value.replace("~", "%"), errors="replace")

    def to_url(self, value: str) -> str:
        text = str(value)
        if text.isascii() and text.isalnum():  # nearly always, and lists ask hundreds of times
            return text
        if not text:
            return "~"
        if not text.strip("."):  # a segment of dots alone would be walked, not read
            return "~2E" * len(text)
        return quote(text, safe="").replace("~", "%7E").replace("%", "~")


def register() -> None:
    """Before any address is resolved; again is harmless."""
    if "sid" not in get_converters():
        register_converter(ServiceId, "sid")


def is_row_number(text: str) -> bool:
    """Whether a text names a row by its number, as far as PostgreSQL compares numbers."""
    return text.isascii() and text.isdecimal() and len(text) < 19


def get_row_or_404(rows: "QuerySet[_Row]", **named: str | int) -> _Row:
    """Return the row of these names, of the tenant in scope. Raises Http404, as for another tenant's row."""
    row = rows.filter(**named).first() if _are_comparable(named) else None
    if row is None:
        raise Http404
    return row


class RowLookup(Generic[_Row]):
    """The rows of `build()` by what names one: `_areas = RowLookup(Area.objects.all, area_id="")`, for addresses that
    are asked for often. The SQL is made once and planned once; see KeptQuery for what `build` may depend on.
    """

    def __init__(self, build: "Callable[[], QuerySet[_Row]]", **kinds: int | str) -> None:
        def found(**named: str | int) -> "QuerySet[_Row]":
            return build().filter(**named).order_by("pk")[:1]

        self._kept = CompiledQuery[_Row](found, plan_each_time=False, **kinds)

    def get_or_404(self, **named: str | int) -> _Row:
        """Return what `get_row_or_404` would."""
        for row in self._kept.rows(**named) if _are_comparable(named) else []:
            return row
        raise Http404


def _are_comparable(named: dict[str, str | int]) -> bool:
    return all("\x00" not in each if isinstance(each, str) else each < _LARGEST for each in named.values())
