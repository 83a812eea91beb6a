"""Paging by key in both directions: page 1,000 costs what page 1 costs, and rows that come or go shift nothing.

Rows are ordered by one sort field and a unique key, in the same direction, so that one index serves both directions;
rows without a value come last either way. Values and the rows without one are two segments, each read by its own
index range: never an OFFSET.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.core import signing
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import BooleanField, F, Field, Func, Model, QuerySet, Value

_SALT = "portal.core.ui.keyset"
END = "end"


class RowBeyond(Func):
    """`(field, key) > (value, key_value)`, or `<`: a row comparison, which PostgreSQL answers from one index range."""

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
class Order:
    """A sort: the ORM path `field`, downwards or not, with the unique never-null `key` to break ties."""

    field: str
    descending: bool = False
    key: str = "pk"

    @property
    def text(self) -> str:
        return f"-{self.field}" if self.descending else self.field


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place of a row in an order: its sort value, its key, and its number in the list as a hint for people."""

    value: Any
    key: Any
    number: int

    def dump(self, order: Order) -> str:
        return signing.dumps([order.text, _plain(self.value), _plain(self.key), self.number], salt=_SALT, compress=True)


@dataclass(frozen=True, slots=True)
class Page:
    """The rows of a page with the cursors of its neighbours (None where there is none) and its first row's number."""

    rows: Sequence[Any]
    previous: str | None
    next: str | None
    first: int


def load(text: str, order: Order, queryset: QuerySet[Any]) -> Cursor | None:
    """The cursor that `text` was dumped from, or None when it is forged, stale or of another order."""
    try:
        sort, value, key, number = signing.loads(text, salt=_SALT)
        if sort != order.text:
            return None
        value = None if value is None else _field(queryset, order.field).to_python(value)
        return Cursor(value, _field(queryset, order.key).to_python(key), int(number))
    except (signing.BadSignature, ValueError, TypeError, ValidationError):
        return None


def page(
    queryset: QuerySet[Any], order: Order, size: int, *, after: str = "", before: str = "", total: int = 0
) -> Page:
    """The page after or before a cursor (`before="end"`: the last page), else the first.

    Reads `size + 1` rows in one query, two where the page crosses into the rows without a value. A cursor that does
    not verify gives the first page.
    """
    if before:
        cursor = None if before == END else load(before, order, queryset)
        if cursor is not None or before == END:
            return _backward(queryset, order, size, cursor, total)
    return _forward(queryset, order, size, load(after, order, queryset) if after else None)


def beginning(queryset: QuerySet[Any], order: Order, size: int) -> QuerySet[Any]:
    """The rows of the first page and one more, where none is without a value."""
    return _segment(queryset, order, None, empty=False, backward=False)[: size + 1]


def first_page(found: list[Any], order: Order, size: int) -> Page:
    """The page that `beginning` found."""
    return _page(found[:size], order, 1, earlier=False, later=len(found) > size)


def _forward(queryset: QuerySet[Any], order: Order, size: int, cursor: Cursor | None) -> Page:
    found = _take(queryset, order, size + 1, cursor, backward=False)
    if cursor is not None and not found:
        return _forward(queryset, order, size, None)
    first = cursor.number + 1 if cursor else 1
    return _page(found[:size], order, first, earlier=cursor is not None, later=len(found) > size)


def _backward(queryset: QuerySet[Any], order: Order, size: int, cursor: Cursor | None, total: int) -> Page:
    size_here = (total % size or size) if cursor is None and total else size
    found = _take(queryset, order, size_here + 1, cursor, backward=True)
    if len(found) < size and cursor is not None:
        return _forward(queryset, order, size, None)
    rows = found[:size_here][::-1]
    last = cursor.number - 1 if cursor else total or len(rows)
    return _page(rows, order, max(1, last - len(rows) + 1), earlier=len(found) > size_here, later=cursor is not None)


def _page(rows: list[Any], order: Order, first: int, *, earlier: bool, later: bool) -> Page:
    if not rows:
        return Page(rows, None, None, 0)
    return Page(
        rows,
        _cursor(rows[0], order, first).dump(order) if earlier else None,
        _cursor(rows[-1], order, first + len(rows) - 1).dump(order) if later else None,
        first,
    )


def _take(queryset: QuerySet[Any], order: Order, count: int, cursor: Cursor | None, *, backward: bool) -> list[Any]:
    """Up to `count` rows beyond the cursor, nearest first, through both segments."""
    segments = [False, True] if nullable(queryset, order.field) else [False]
    if backward:
        segments.reverse()
    if cursor is not None:
        segments = segments[segments.index(cursor.value is None) :] if (cursor.value is None) in segments else segments
    found: list[Any] = []
    for empty in segments:
        if len(found) >= count:
            break
        here = cursor if cursor is not None and (cursor.value is None) == empty else None
        found += _segment(queryset, order, here, empty=empty, backward=backward)[: count - len(found)]
    return found


def _segment(
    queryset: QuerySet[Any], order: Order, cursor: Cursor | None, *, empty: bool, backward: bool
) -> QuerySet[Any]:
    falling = order.descending != backward
    sign, operator = ("-", "<") if falling else ("", ">")
    if empty:
        rows = queryset.filter(**{f"{order.field}__isnull": True})
        if cursor is not None:
            rows = rows.filter(**{f"{order.key}__{'lt' if falling else 'gt'}": cursor.key})
        return rows.order_by(f"{sign}{order.key}")
    rows = queryset.filter(**{f"{order.field}__isnull": False}) if nullable(queryset, order.field) else queryset
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


def _cursor(row: Any, order: Order, number: int) -> Cursor:
    return Cursor(value_of(row, order.field), value_of(row, order.key), number)


def value_of(row: Any, path: str) -> Any:
    """The value at the ORM path `path` of a row; None where a relation on the way is empty."""
    for name in path.split("__"):
        row = getattr(row, name, None)
        if row is None:
            return None
    return row.pk if isinstance(row, Model) else row


def nullable(queryset: QuerySet[Any], path: str) -> bool:
    """Whether rows may be without a value at `path`. Annotations are taken to be nullable."""
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


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
