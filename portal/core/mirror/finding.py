"""Finding the first of the records that are wanted, in a log of any length, however rare or frequent they are there.

PostgreSQL has two ways: to walk along the log until enough were met, which is quick for what is frequent, or to gather
all of them by their hashes and put them in order, which is quick for what is rare. Which it is, it guesses by what it
knows of all tenants together, and is wrong for rare hashes and small tenants by a factor of a hundred and more. So it
is not asked to guess: some records nearby are walked along, and what they hold tells how far to gather.
"""

import copy
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from django.db.models import (
    BooleanField,
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    Func,
    Model,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce

M = TypeVar("M", bound=Model)

_NEAR = 500  # records that are walked along
_FIRST, _LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
_MARGIN = 3  # how much farther than the records nearby promise is gathered


class Pieces(Func):
    """A comparison of a record's hashes with others, given as the text of an array."""

    template = "%(expressions)s::int4[]"
    output_field = BooleanField()

    def __init__(self, joiner: str, pieces: Sequence[int], any_of: Sequence[str] = ()) -> None:
        self.arg_joiner, self.any_of = joiner, tuple(any_of)
        super().__init__(F("pieces"), Value(f"{{{','.join(map(str, pieces))}}}"))

    def walking(self) -> "Pieces":
        """Return the same in words for which no index is used, and of which PostgreSQL thinks that half are so."""
        same = self.copy()
        same.template = f"CASE WHEN {Pieces.template} THEN true ELSE false END"
        return same


class Found(QuerySet[M]):
    """Records by what they are found by, in the order of `at` and `id`: pages and bounded counts of them are quick."""

    def _fetch_all(self) -> None:
        if self._result_cache is None and self._is_beginning():
            self._result_cache = self._first()
        super()._fetch_all()

    def count(self) -> int:
        if self._result_cache is None and self._is_beginning():
            return len(self.values_list("id", "at", named=True)._first())  # type: ignore[attr-defined]  # it is a Found
        return super().count()

    def _is_beginning(self) -> bool:
        """Return whether the first of those with certain hashes are wanted."""
        query = self.query
        narrows = any(pieces_of(each) for each in query.where.children)
        return narrows and query.high_mark is not None and not query.low_mark and not query.is_empty()

    def _first(self) -> list[Any]:
        most: int = self.query.high_mark  # type: ignore[assignment]  # there is one, see above
        near = self._read(most, self._edge(), walking=True)
        if 1 < len(near) < most:
            near = self._read(most, _reach(near[0].at, near[-1].at, most / (len(near) - 1)))
        return near if len(near) == most else self._read(most)

    def _edge(self) -> Coalesce:
        """Return the moment at which what is near ends; one that is farther than all where all is near."""
        rows = self._unlimited()
        rows.query.where.children = [each for each in rows.query.where.children if not _narrows(each)]
        return Coalesce(Subquery(rows.values("at")[_NEAR : _NEAR + 1]), Value(_FIRST if self._falls() else _LAST))

    def _read(self, most: int, edge: Any = None, *, walking: bool = False) -> list[Any]:
        """Read at most so many up to an edge, by walking along or by gathering."""
        rows = self._unlimited()
        if walking:
            rows.query.where.children = [_walking(each) for each in rows.query.where.children]
        else:  # in words for which no index keeps the order
            at = ExpressionWrapper(F("at") + Value(timedelta(0)), output_field=DateTimeField())
            rows = rows.order_by(at.desc(), "-id") if self._falls() else rows.order_by(at.asc(), "id")
        if edge is not None:
            rows = rows.filter(**{"at__gte" if self._falls() else "at__lte": edge})
        rows.query.set_limits(high=most)
        iterable: Any = rows._iterable_class
        return list(iterable(rows))

    def _unlimited(self) -> "Found[M]":
        rows = self.all()
        rows.query.clear_limits()
        return rows if rows.query.order_by else rows.order_by("-at", "-id")

    def _falls(self) -> bool:
        return not self.query.order_by or str(self.query.order_by[0]).startswith("-")


def _reach(first: datetime, last: datetime, times: float) -> datetime | None:
    """Return how far to look for so many times what lies between two moments; None for as far as there is."""
    try:
        return last + (last - first) * times * _MARGIN
    except OverflowError:
        return None


def pieces_of(condition: Any) -> Pieces | None:
    """Return the hashes that a condition asks for."""
    said = getattr(condition, "lhs", None)
    return said if isinstance(said, Pieces) else None


def _narrows(condition: Any) -> bool:
    """Return whether a condition is about what a record says, not about when it was."""
    return isinstance(getattr(condition, "lhs", None), Pieces | Exists)


def _walking(condition: Any) -> Any:
    pieces = pieces_of(condition)
    if pieces is None:
        return condition
    same = copy.copy(condition)
    same.lhs = pieces.walking()
    return same
