"""Load the facts that every page needs from the database in one statement.

Areas of work register a queryset in their `signals.py`:

    batching.register_query("freshness", states)                                # rows: instances of the model
    batching.register_query("gauges", gauges, connection=lambda request: …)     # with whole numbers of the request
    # for pages that call `prefetch(request, "groups")`
    batching.register_query("groups", groups, on_every_page=False)

A queryset is built once per process, for a placeholder tenant, and its SQL is cached. A page only fills in the tenant
and the request's numbers. Rows are kept for one request only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import (
    BooleanField,
    CharField,
    DateField,
    DateTimeField,
    Field,
    IntegerField,
    JSONField,
    Model,
    QuerySet,
    TextField,
)
from django.http import HttpRequest

from tenants.access import TenantRequest
from tenants.postgresql import date_limits
from tenants.postgresql.prepared_statements import PreparedStatement
from tenants.scope import across_tenants, current_tenant_id, tenant_scope

RequestNumber = Callable[[TenantRequest], int]
ValueReader = Callable[[Any], Any]

# Fields whose values are the same in JSON.
_READ_AS_JSON = {each.to_python for each in (IntegerField, CharField, TextField, BooleanField, JSONField)}

# Numbers that no row has: placeholders for the tenant and the request's numbers while SQL is built.
_ANY_TENANT = 4_611_686_018_427_387_001
_ANY_NUMBER = 1_987_654_001


@dataclass(frozen=True, slots=True)
class _BatchQuery:
    name: str
    build: Callable[..., QuerySet[Any]]
    parameters: dict[str, RequestNumber]
    on_every_page: bool


@dataclass(frozen=True, slots=True)
class _CompiledQuery:
    """A query as SQL, with the readers of its columns and annotations."""

    name: str
    model: type[Model] | None  # None: rows are tuples
    sql: str
    params: tuple[Any, ...]
    fields: dict[str, tuple[str, ValueReader | None]]
    annotations: dict[str, ValueReader]


_queries: dict[str, _BatchQuery] = {}


def register_query(
    name: str, build: Callable[..., QuerySet[Any]], *, on_every_page: bool = True, **given: RequestNumber
) -> None:
    """Load the rows of `build(**parameters)` on every page of a tenant. A later registration replaces an earlier one.

    With `on_every_page=False`, only pages that `prefetch` it load them. Rows of `values_list` are tuples.
    """
    _queries[name] = _BatchQuery(name, build, given, on_every_page)
    _compile_batch.cache_clear()


def prefetch(request: HttpRequest, name: str) -> None:
    """Load the rows of `name` together with those that every page loads."""
    request.batched_names = {*_prefetched_names(request), name}  # type: ignore[attr-defined]  # kept on it


def _prefetched_names(request: HttpRequest) -> set[str]:
    return getattr(request, "batched_names", set())


def load_rows(request: TenantRequest, name: str) -> list[Any]:
    """Return the rows of `name` for the request's tenant, loaded with all others on the first call.

    GET and HEAD requests load them once. Other requests may write in between, so each call loads them again.
    """
    answers: dict[str, list[Any]] | None = getattr(request, "batched_rows", None)
    if answers is None or name not in answers or request.method not in ("GET", "HEAD"):
        if not _queries[name].on_every_page:
            prefetch(request, name)
        answers = request.batched_rows = _read_batch(request)  # type: ignore[attr-defined]  # kept on it
    return answers[name]


def _read_batch(request: TenantRequest) -> dict[str, list[Any]]:
    planned, made = _compile_batch(frozenset(_prefetched_names(request)))
    numbers: dict[int | str, int | str] = {
        key: given(request) for question in _queries.values() for key, given in _placeholders(question)
    }
    with connection.cursor() as cursor:
        cursor.execute(planned.execute_text(numbers | {_ANY_TENANT: current_tenant_id()}))
        found = cursor.fetchone()
    return {each.name: [_build_row(each, row) for row in rows] for each, rows in zip(made, found, strict=True)}


@cache
def _compile_batch(names: frozenset[str]) -> tuple[PreparedStatement, tuple[_CompiledQuery, ...]]:
    made = tuple(_compile_query(each) for each in _queries.values() if each.on_every_page or each.name in names)
    parts = (f"(SELECT coalesce(json_agg(t), '[]') FROM ({each.sql}) t)" for each in made)  # noqa: S608 - made by the ORM
    numbers = {key for question in _queries.values() for key, _ in _placeholders(question)}
    params = [param for each in made for param in each.params]
    return PreparedStatement(f"SELECT {', '.join(parts)}", params, numbers | {_ANY_TENANT}), made


def _compile_query(question: _BatchQuery) -> _CompiledQuery:
    with across_tenants("SQL is made for any tenant, and nothing is read"), tenant_scope(_ANY_TENANT):
        numbers = (key for key, _ in _placeholders(question))
        rows = question.build(**dict(zip(question.parameters, numbers, strict=True)))
        sql, params = rows.query.sql_with_params()
    fields = {field.column: (field.attname, _value_reader(field)) for field in rows.model._meta.concrete_fields}
    annotated = {name: each.output_field for name, each in rows.query.annotation_select.items()}
    annotations = {name: _value_reader(field) or field.to_python for name, field in annotated.items()}
    model = rows.model if rows._fields is None else None  # type: ignore[attr-defined]  # not in the stubs
    return _CompiledQuery(question.name, model, sql, params, fields, annotations)


def _build_row(made: _CompiledQuery, row_values: dict[str, Any]) -> Any:
    """Return the row that the queryset would have built, from values in JSON."""
    if made.model is None:
        return tuple(row_values.values())
    names, values = [], []
    for name, value in row_values.items():
        if name in made.fields:
            attname, reads = made.fields[name]
            names.append(attname)
            values.append(value if reads is None else reads(value))
    row = made.model.from_db("default", names, values)
    for name, read in made.annotations.items():
        setattr(row, name, read(row_values[name]))
    return row


def _value_reader(field: "Field[Any, Any]") -> ValueReader | None:
    """Return the function that reads this field's value from JSON; None if the value is the same."""
    if isinstance(field, DateField):
        return date_limits.moment_from_json if isinstance(field, DateTimeField) else date_limits.day_from_json
    return None if type(field).to_python in _READ_AS_JSON else field.to_python


def _placeholders(question: _BatchQuery) -> list[tuple[int, RequestNumber]]:
    """Return a placeholder for each number that the request gives, different in each query."""
    first = _ANY_NUMBER + 10 * list(_queries).index(question.name)
    return [(first + place, given) for place, given in enumerate(question.parameters.values())]
