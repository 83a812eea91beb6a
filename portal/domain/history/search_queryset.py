"""Find the first matching records in a log of any length, whether the matches are rare or frequent.

PostgreSQL has two ways. "Walking" reads the log in order until it has enough matches, which is fast for frequent ones.
"Gathering" finds all matches by their hashes and sorts them, which is fast for rare ones. PostgreSQL chooses by the
statistics of all tenants together, which are wrong by a factor of 100 or more for rare hashes and small tenants. So
this module chooses: it first walks along some records, and their matches show how far to walk on or to gather.

With a partition for each month, planning takes as long as reading a page. So each way is planned once, with SQL that
has one good plan for every tenant and every hash.
"""

import copy
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from django.db.models import (
    BooleanField,
    Case,
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    Func,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.db.models.query import ModelIterable, NamedValuesListIterable
from django.db.models.sql.where import AND

from portal.domain.history.models import History
from tenants.postgresql.compiled_queries import rows_with_shared_plan

M = TypeVar("M", bound=Model)

_SAMPLE_SIZE = 500  # records in the first walk
_FIRST, _LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
_MARGIN = 3  # factor by which the search goes farther than the sample suggests
_RECENT = timedelta(days=31)  # gathering begins with this span: one or two partitions
_WALK_SPEED = 2  # records walked in the time in which one is gathered


_ALL = Q()


class PiecesMatch(Func):
    """A comparison of a record's hashes with others, given as the text of an array."""

    template = "%(expressions)s::int4[])"
    output_field = BooleanField()

    def __init__(
        self,
        joiner: str,
        pieces: Sequence[int],
        any_of: Sequence[str] = (),
        condition: Q = _ALL,
        one: Mapping[str, str] | None = None,
    ) -> None:
        # A subquery hides the hashes from the planner, so that one plan is used for all hashes.
        self.arg_joiner, self.any_names = f"{joiner}(SELECT ", tuple(any_of)
        # The same condition on the record's own columns, and the single person or door in it.
        self.record_condition, self.single_value = condition, one
        super().__init__(F("pieces"), Value(f"{{{','.join(map(str, pieces))}}}"))

    def without_index(self) -> "PiecesMatch":
        """Return the condition in a form that uses no index and that PostgreSQL expects to match half of the rows."""
        same = self.copy()
        same.template = f"CASE WHEN {PiecesMatch.template} THEN true ELSE false END"
        return same


class SearchQuerySet(QuerySet[M]):
    """A queryset of search rows, sorted by `at` and `id`, with fast first pages and bounded counts."""

    def _fetch_all(self) -> None:
        if self._result_cache is None and self._is_first_page():
            self._result_cache = self._read_first()
        super()._fetch_all()

    def count(self) -> int:
        if self._result_cache is None and self._is_first_page():
            return len(self.values_list("id", "at", named=True)._read_first())  # type: ignore[attr-defined]  # same class
        return super().count()

    def _is_first_page(self) -> bool:
        """Return whether the query is for the first rows with certain hashes."""
        query = self.query
        narrows = any(pieces_match_of(each) for each in query.where.children)
        return narrows and query.high_mark is not None and not query.low_mark and not query.is_empty()

    def _read_first(self) -> list[Any]:
        most: int = self.query.high_mark  # type: ignore[assignment]  # there is one, see above
        found = self._read_for_one(most)
        if found is not None:
            return found
        found = self._read(most, self._moment_after(_SAMPLE_SIZE), walking=True)
        if 1 < len(found) < most:
            found = self._read_farther(found, most)
        return found if len(found) == most else self._read(most, self._moment_of_last(most))

    def _read_for_one(self, most: int) -> list[Any] | None:
        """Return the first records of a single person or door, found by the index of the records themselves.

        None if the filter is not for a single one, or if other conditions are rare among its newest records.
        """
        children: list[Any] = list(self.query.where.children)
        matches = list(filter(None, map(_match_of, children)))
        one = next((each.single_value for each in matches if each.single_value), None)
        named = self._iterable_class is NamedValuesListIterable
        if one is None or not (named or self._iterable_class is ModelIterable):
            return None
        rows = History.objects.filter(**one).exclude(**dict.fromkeys(one, ""))
        order = ("-at", "-id") if self._sign < 0 else ("at", "id")
        alias = {self.query.get_initial_alias(): rows.query.get_initial_alias()}
        # PostgreSQL walks along when it expects that half of the rows match. `near` needs only the index.
        conditions = [each.record_condition for each in matches if each.record_condition != Q(**one)]
        half = [
            Case(When(each, then=Value(True)), default=Value(False), output_field=BooleanField()) for each in conditions
        ]
        near, rows = rows.order_by(order[0]), rows.filter(*half).order_by(*order)
        moments = [
            each.relabeled_clone(alias) for each in children if not (_is_about_content(each) or _is_of_tenant(each))
        ]
        for each in moments:
            rows.query.where.add(each, AND)
        is_unfiltered = not conditions
        if not is_unfiltered:
            for each in moments:
                near.query.where.add(each, AND)
            edge = self._moment(near, max(_SAMPLE_SIZE // 2, _MARGIN * most))
            rows = rows.filter(**{"at__gte" if self._sign < 0 else "at__lte": edge})
        found = rows_with_shared_plan(rows.values_list("id", "at", named=True)[:most])
        return found if is_unfiltered or len(found) == most else None

    def _read_farther(self, near: list[Any], most: int) -> list[Any]:
        """Return the matches within the distance that the matches of the sample suggest."""
        times = most / (len(near) - 1) * _MARGIN
        reach = _reach_of(near[0].at, near[-1].at, times)
        if not _is_frequent(near, most):
            return self._read(most, reach)
        # Walks farther if a night or a holiday is in between. A power of two, because each number has its own plan.
        for edge in (reach, self._moment_after(_SAMPLE_SIZE << round(times).bit_length())):
            if len(near) < most:
                near = [*near, *self._walk_on(near[-1], edge, most)][:most]
        return near

    def _walk_on(self, last: Any, edge: Any, most: int) -> list[Any]:
        """Walk on after a row that was found; return at most so many."""
        ahead, behind = ("at__lte", "id__gte") if self._sign < 0 else ("at__gte", "id__lte")
        rows = self._up_to(edge, walking=True).filter(**{ahead: last.at}).exclude(**{"at": last.at, behind: last.id})
        rows.query.set_limits(high=most)
        return rows_with_shared_plan(rows)

    def _moment_after(self, records: int) -> Coalesce:
        """Return the moment of the record at this number; a moment beyond all records if there are fewer."""
        rows = self._unlimited()
        rows.query.where.children = [each for each in rows.query.where.children if not _is_about_content(each)]
        return self._moment(rows, records)

    def _moment_of_last(self, most: int) -> Coalesce:
        """Return the moment of the last match to return if it is within _RECENT; else a moment beyond all records."""
        beyond = ExpressionWrapper(self._moment_after(0) + Value(self._sign * _RECENT), output_field=DateTimeField())
        return self._moment(self._up_to(beyond), most - 1)

    def _moment(self, rows: QuerySet[Any], number: int) -> Coalesce:
        return Coalesce(Subquery(rows.values("at")[number : number + 1]), Value(_LAST if self._sign > 0 else _FIRST))

    def _read(self, most: int, edge: Any, *, walking: bool = False) -> list[Any]:
        """Read at most so many rows up to an edge, with a shared plan."""
        rows = self._up_to(edge, walking=walking)
        rows.query.set_limits(high=most)
        return rows_with_shared_plan(rows)

    def _up_to(self, edge: Any, *, walking: bool = False) -> "SearchQuerySet[M]":
        """Return the rows up to an edge, by walking or by gathering."""
        rows = self._unlimited()
        if walking:
            rows.query.where.children = [_for_walking(each) for each in rows.query.where.children]
        else:  # in a form that cannot use the order of an index
            rows.query.where.children = [
                condition for each in rows.query.where.children for condition in _for_gathering(each)
            ]
            at = ExpressionWrapper(F("at") + Value(timedelta(0)), output_field=DateTimeField())
            rows = rows.order_by(at.desc(), "-id") if self._sign < 0 else rows.order_by(at.asc(), "id")
        return rows if edge is None else rows.filter(**{"at__gte" if self._sign < 0 else "at__lte": edge})

    def _unlimited(self) -> "SearchQuerySet[M]":
        rows = self.all()
        rows.query.clear_limits()
        return rows if rows.query.order_by else rows.order_by("-at", "-id")

    @property
    def _sign(self) -> int:
        """Return -1 if the newest rows are first, else 1."""
        return -1 if not self.query.order_by or str(self.query.order_by[0]).startswith("-") else 1


def _is_frequent(near: Sequence[Any], most: int) -> bool:
    """Return whether, judging by the sample, walking is faster than gathering in a month's partition."""
    steps, span = len(near) - 1, abs(near[0].at - near[-1].at)
    in_a_part: float = steps * (_RECENT / max(span, timedelta(seconds=1)))
    return _SAMPLE_SIZE * most / steps < _WALK_SPEED * in_a_part


def _reach_of(first: datetime, last: datetime, times: float) -> datetime | None:
    """Return the moment that is `times` the distance between two moments farther; None for no limit."""
    try:
        return last + (last - first) * times
    except OverflowError:
        return None


def pieces_match_of(condition: Any) -> PiecesMatch | None:
    """Return the comparison of hashes in a condition, or None."""
    comparison = getattr(condition, "lhs", None)
    return comparison if isinstance(comparison, PiecesMatch) else None


def _match_of(condition: Any) -> Any:
    """Return the match with `record_condition` and `single_value` for a condition; None for conditions about time."""
    return pieces_match_of(condition) or (condition if isinstance(condition, RecordMatch) else None)


class RecordMatch(Exists):
    """A condition that can only be checked in the record itself, not by hashes."""

    def __init__(self, condition: Q, records: QuerySet[Any]) -> None:
        self.record_condition, self.single_value = condition, None
        super().__init__(records.filter(condition, pk=OuterRef("id"), at=OuterRef("at")))


def _is_about_content(condition: Any) -> bool:
    """Return whether a condition is about a record's content, not its time."""
    return isinstance(getattr(condition, "lhs", None), PiecesMatch | Exists)


def _for_walking(condition: Any) -> Any:
    """Return a condition in a form that uses the index for the order, with a plan that suits any tenant."""
    if _is_of_tenant(condition):
        tenant_id = Value(condition.rhs, output_field=condition.lhs.output_field)
        return _with_sides(condition, rhs=Func(tenant_id, template="(SELECT %(expressions)s::int8)"))
    pieces = pieces_match_of(condition)
    return condition if pieces is None else _with_sides(condition, lhs=pieces.without_index())


def _for_gathering(condition: Any) -> list[Any]:
    """Return a condition in a form that uses only the index of hashes, in the partitions of the time range.

    The condition on hashes is repeated, so that PostgreSQL expects fewer matches than for any condition on time.
    """
    left_side: Any = getattr(condition, "lhs", None)
    if _is_of_tenant(condition):
        return [
            _with_sides(
                condition, lhs=Func(left_side, template="(%(expressions)s + 0)", output_field=left_side.output_field)
            )
        ]
    return [condition] * (2 if isinstance(left_side, PiecesMatch) and left_side.template == PiecesMatch.template else 1)


def _is_of_tenant(condition: Any) -> bool:
    return getattr(getattr(getattr(condition, "lhs", None), "target", None), "name", "") == "tenant"


def _with_sides(condition: Any, **sides: Any) -> Any:
    same = copy.copy(condition)
    for name, side in sides.items():
        setattr(same, name, side)
    return same
