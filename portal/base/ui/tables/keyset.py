"""Keyset paging in both directions: page 1,000 is as fast as page 1, and new or deleted rows do not shift pages.

Rows are ordered by one sort field and a unique key in the same direction, so that one index serves both directions.
Rows without a value are always last. Rows with and without a value are two segments, each read by an index range: never
use OFFSET.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.core import signing
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import BooleanField, F, Field, Func, Model, QuerySet, Value

_SALT = "portal.base.ui.keyset"
END = "end"


class RowBeyond(Func):
    """`(field, key) > (value, key_value)`, or `<`: a row comparison, which PostgreSQL reads from one index range."""

    output_field = BooleanField()

    def __init__(self, operator: str, *expressions: Any) -> None:
        self.operator = operator
        super().__init__(*expressions)

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> tuple[str, list[Any]]:  # type: ignore[override]  # stubs say more
        parts, params = [], []
        for expression in self.get_source_expressions():
            sql, values = compiler.compile(expression)
            parts.append(sql)
            params.extend(values)
        field, key, value, key_value = parts
        return f"({field}, {key}) {self.operator} ({value}, {key_value})", params


@dataclass(frozen=True, slots=True)
class SortOrder:
    """A sort order: the ORM path `field`, its direction, and the unique, never-null `key` for equal values."""

    field: str
    is_descending: bool = False
    key: str = "pk"

    @property
    def text(self) -> str:
        return f"-{self.field}" if self.is_descending else self.field


@dataclass(frozen=True, slots=True)
class Cursor:
    """The position of a row in a sort order: its value, its key, and its number in the list for display."""

    value: Any
    key: Any
    number: int

    def dump(self, order: SortOrder) -> str:
        return signing.dumps(
            [order.text, _to_json(self.value), _to_json(self.key), self.number], salt=_SALT, compress=True
        )


@dataclass(frozen=True, slots=True)
class ListPage:
    """The rows of a page, its first row's number, and the cursors of the pages beside it (None if there is none)."""

    rows: Sequence[Any]
    previous: str | None
    next: str | None
    first: int


def load_cursor(text: str, order: SortOrder, queryset: QuerySet[Any]) -> Cursor | None:
    """Return the cursor that `text` was dumped from, or None when it is forged, outdated or of another order."""
    try:
        sort, value, key, number = signing.loads(text, salt=_SALT)
        if sort != order.text:
            return None
        value = None if value is None else _field(queryset, order.field).to_python(value)
        return Cursor(value, _field(queryset, order.key).to_python(key), int(number))
    except (signing.BadSignature, ValueError, TypeError, ValidationError):
        return None


def load_page(
    queryset: QuerySet[Any], order: SortOrder, size: int, *, after: str = "", before: str = "", total: int = 0
) -> ListPage:
    """Return the page after or before a cursor (`before="end"`: the last page), else the first page.

    It reads `size + 1` rows in one query, or in two if the page has rows with and without a value. An invalid cursor
    gives the first page.
    """
    if before:
        cursor = None if before == END else load_cursor(before, order, queryset)
        if cursor is not None or before == END:
            return _page_before(queryset, order, size, cursor, total)
    return _page_after(queryset, order, size, load_cursor(after, order, queryset) if after else None)


def first_page_rows(queryset: QuerySet[Any], order: SortOrder, size: int) -> QuerySet[Any]:
    """Return the rows of the first page and one more, for a sort field that is never null."""
    return _segment_rows(queryset, order, None, empty=False, backward=False)[: size + 1]


def first_page(found: list[Any], order: SortOrder, size: int) -> ListPage:
    """Return the page of the rows of `first_page_rows`."""
    return _build_page(found[:size], order, 1, earlier=False, later=len(found) > size)


def _page_after(queryset: QuerySet[Any], order: SortOrder, size: int, cursor: Cursor | None) -> ListPage:
    found = _take_rows(queryset, order, size + 1, cursor, backward=False)
    if cursor is not None and not found:
        return _page_after(queryset, order, size, None)
    first = cursor.number + 1 if cursor else 1
    return _build_page(found[:size], order, first, earlier=cursor is not None, later=len(found) > size)


def _page_before(queryset: QuerySet[Any], order: SortOrder, size: int, cursor: Cursor | None, total: int) -> ListPage:
    page_size = (total % size or size) if cursor is None and total else size
    found = _take_rows(queryset, order, page_size + 1, cursor, backward=True)
    if len(found) < size and cursor is not None:
        return _page_after(queryset, order, size, None)
    rows = found[:page_size][::-1]
    last = cursor.number - 1 if cursor else total or len(rows)
    return _build_page(
        rows, order, max(1, last - len(rows) + 1), earlier=len(found) > page_size, later=cursor is not None
    )


def _build_page(rows: list[Any], order: SortOrder, first: int, *, earlier: bool, later: bool) -> ListPage:
    if not rows:
        return ListPage(rows, None, None, 0)
    return ListPage(
        rows,
        _cursor(rows[0], order, first).dump(order) if earlier else None,
        _cursor(rows[-1], order, first + len(rows) - 1).dump(order) if later else None,
        first,
    )


def _take_rows(
    queryset: QuerySet[Any], order: SortOrder, count: int, cursor: Cursor | None, *, backward: bool
) -> list[Any]:
    """Return up to `count` rows beyond the cursor, nearest first, from both segments."""
    segments = [False, True] if is_nullable(queryset, order.field) else [False]
    if backward:
        segments.reverse()
    if cursor is not None:
        segments = segments[segments.index(cursor.value is None) :] if (cursor.value is None) in segments else segments
    found: list[Any] = []
    for empty in segments:
        if len(found) >= count:
            break
        start = cursor if cursor is not None and (cursor.value is None) == empty else None
        found += _segment_rows(queryset, order, start, empty=empty, backward=backward)[: count - len(found)]
    return found


def _segment_rows(
    queryset: QuerySet[Any], order: SortOrder, cursor: Cursor | None, *, empty: bool, backward: bool
) -> QuerySet[Any]:
    falling = order.is_descending != backward
    sign, operator = ("-", "<") if falling else ("", ">")
    if empty:
        rows = queryset.filter(**{f"{order.field}__isnull": True})
        if cursor is not None:
            rows = rows.filter(**{f"{order.key}__{'lt' if falling else 'gt'}": cursor.key})
        return rows.order_by(f"{sign}{order.key}")
    rows = queryset.filter(**{f"{order.field}__isnull": False}) if is_nullable(queryset, order.field) else queryset
    if cursor is not None:
        rows = rows.filter(
            RowBeyond(
                operator,
                F(order.field),
                F(order.key),
                Value(cursor.value, output_field=_field(queryset, order.field)),
                Value(cursor.key, output_field=_field(queryset, order.key)),
            )
        )
    return rows.order_by(*dict.fromkeys([f"{sign}{order.field}", f"{sign}{order.key}"]))


def _cursor(row: Any, order: SortOrder, number: int) -> Cursor:
    return Cursor(value_of(row, order.field), value_of(row, order.key), number)


def value_of(row: Any, path: str) -> Any:
    """Return the value at the ORM path `path` of a row; None if a relation in the path is empty."""
    for name in path.split("__"):
        row = getattr(row, name, None)
        if row is None:
            return None
    return row.pk if isinstance(row, Model) else row


def is_nullable(queryset: QuerySet[Any], path: str) -> bool:
    """Return whether rows may have no value at `path`. Annotations are taken to be nullable."""
    if path in queryset.query.annotations:
        return True
    return any(getattr(field, "null", True) for field in _fields(queryset.model, path))


def _field(queryset: QuerySet[Any], path: str) -> "Field[Any, Any]":
    if path in queryset.query.annotations:
        return queryset.query.annotations[path].output_field
    field = _fields(queryset.model, path)[-1]
    return cast("Field[Any, Any]", getattr(field, "target_field", field))


def _fields(model: Any, path: str) -> list[Any]:
    fields = []
    for name in path.split("__"):
        if model is None:
            raise FieldDoesNotExist(path)
        field = model._meta.pk if name == "pk" else model._meta.get_field(name)
        fields.append(field)
        model = getattr(field, "related_model", None)
    return fields


def _to_json(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
