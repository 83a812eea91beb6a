"""Queries of every page whose SQL is compiled once per process, as compiling takes longer than running.

    _tenant = CompiledQuery(lambda slug: Tenant.objects.filter(slug=slug)[:1], slug="")
    _tenant.rows(slug="acme")

Only the SQL is kept. The current tenant and the values are filled in at each call, and no result is kept. The query
must depend on these alone, and must be built entirely inside `build`: a condition made outside would keep the first
caller's tenant. It must not depend on the time, the language or a person's choice.
"""

import copy
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

from tenants.postgresql.prepared_statements import PreparedStatement, StatementValue, type_of
from tenants.scope import across_tenants, current_tenant_id, tenant_scope

T = TypeVar("T")

# Placeholders for the tenant and for each value while the SQL is compiled; no row has these values.
_ANY_TENANT = 4_611_686_018_427_387_002
_ANY_NUMBER = 1_987_655_000
_ANY_TEXT = "\x02any"
_ANY_MOMENT = datetime(1, 1, 1, tzinfo=UTC)
# Each query shape is a plan that every session keeps, about 0.4 MB for a table with many partitions. Further shapes are
# planned at each call.
_MAX_SHAPES = 30
_shapes: dict[tuple[Any, ...], PreparedStatement] = {}


class CompiledQuery(Generic[T]):
    """A queryset built by `build(**values)`; `kinds` gives a sample of each value: a whole number or a text.

    PostgreSQL also plans it once. Use `plan_each_time` if a query finds many rows of one tenant and few of another.
    """

    def __init__(
        self, build: Callable[..., QuerySet[Any]], *, plan_each_time: bool = False, **kinds: int | str
    ) -> None:
        self._build, self._planned_anew = build, plan_each_time
        self._stand_ins = {
            name: _ANY_NUMBER + place if isinstance(kind, int) else f"{_ANY_TEXT}{place}"
            for place, (name, kind) in enumerate(kinds.items())
        }

    def rows(self, **values: int | str) -> list[T]:
        """Return the current rows of the queryset in the current scope, with these values."""
        queryset, compiler, statement, params, converters = self._compiled
        filled: dict[StatementValue, StatementValue] = {self._stand_ins[name]: value for name, value in values.items()}
        if _ANY_TENANT in params:
            filled[_ANY_TENANT] = current_tenant_id()
        copied = copy.copy(compiler)
        copied.connection = connection
        copied.execute_sql = lambda *_args, **_kwargs: [self._fetch(statement, params, filled)]
        copied.get_converters = lambda _expressions: converters
        return _iterate(queryset, _CompiledQuerySet(queryset, copied))

    def _fetch(
        self, statement: str, params: tuple[Any, ...], filled: dict[StatementValue, StatementValue]
    ) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            if self._planned_anew:
                given = [filled.get(each, each) if isinstance(each, int | str) else each for each in params]
                cursor.execute(statement, given)
            else:
                cursor.execute(self._statement.execute_text(filled))
            found: list[tuple[Any, ...]] = cursor.fetchall()
        return found

    @cached_property
    def _statement(self) -> PreparedStatement:
        _queryset, _compiler, statement, params, _converters = self._compiled
        return PreparedStatement(statement, params, {_ANY_TENANT, *self._stand_ins.values()})

    @cached_property
    def _compiled(self) -> tuple[QuerySet[Any], Any, str, tuple[Any, ...], Any]:
        with across_tenants("SQL is made for any tenant, and nothing is read"), tenant_scope(_ANY_TENANT):
            queryset = self._build(**self._stand_ins)
            compiler = queryset.query.get_compiler(queryset.db)
            sql, params = compiler.as_sql()
            converters = compiler.get_converters([each[0] for each in compiler.select[: compiler.col_count]])
        return queryset, compiler, sql, params, converters


def rows_with_shared_plan(queryset: QuerySet[Any]) -> list[Any]:
    """Return a queryset's rows, with a plan that PostgreSQL shares among querysets that differ only in values.

    For querysets whose shape depends on a person's choice, which cannot be a CompiledQuery.
    """
    compiler = queryset.query.get_compiler(queryset.db)
    try:
        sql, params = compiler.as_sql()
    except EmptyResultSet:
        return []
    stand_ins = tuple(_stand_in(param, place) for place, param in enumerate(params))
    planned = _shapes.get((sql, stand_ins))
    if planned is None:
        if len(_shapes) >= _MAX_SHAPES:
            return _iterate(queryset, queryset)
        filled = [each for each, param in zip(stand_ins, params, strict=True) if each is not param]
        planned = _shapes[sql, stand_ins] = PreparedStatement(sql, stand_ins, filled)
    with connection.cursor() as cursor:
        cursor.execute(planned.execute_text(dict(zip(stand_ins, params, strict=True))))
        found = cursor.fetchall()
    shared: Any = compiler
    shared.execute_sql = lambda *_args, **_kwargs: [found]
    return _iterate(queryset, _CompiledQuerySet(queryset, shared))


def _iterate(queryset: QuerySet[Any], compiler: Any) -> list[Any]:
    iterable: Any = queryset._iterable_class
    rows: list[Any] = list(iterable(compiler))
    return rows


def _stand_in(param: Any, place: int) -> Any:
    """Return the placeholder of a value at this place, or the value itself if its type has no placeholder.

    The empty text stays in the SQL: a plan for all values uses a partial index on non-empty texts only if it is written
    there.
    """
    if param == "":
        return param
    moment = _ANY_MOMENT + timedelta(days=place)
    kinds: dict[Any, Any] = {int: _ANY_NUMBER + place, str: f"{_ANY_TEXT}{place}", datetime: moment}
    return kinds.get(type_of(param), param)


class _CompiledQuerySet:
    """The attributes of a queryset that its iterable reads, with the compiler that already has its SQL."""

    def __init__(self, queryset: QuerySet[Any], compiler: Any) -> None:
        self.db, self.model, self.query = queryset.db, queryset.model, self
        self._fields = getattr(queryset, "_fields", None)
        self._known_related_objects: dict[Any, Any] = {}
        self._compiler = compiler

    def get_compiler(self, using: str) -> Any:
        return self._compiler
