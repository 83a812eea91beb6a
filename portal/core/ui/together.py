"""What every page asks the database, asked together: one statement for the whole frame.

Parts that know such facts register a queryset from their `AppConfig.ready()`:

    together.ask("freshness", states)                                     # rows: instances of the model
    together.ask("gauges", gauges, connection=lambda request: …)          # with whole numbers of the request
    together.ask("groups", groups, everywhere=False)                      # of pages that say `want(request, "groups")`

A queryset is built once in a process, in a scope that stands for any tenant, and its SQL is kept; a page only fills in
the tenant and the numbers. Nothing that was read is kept beyond the request that read it.
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
from tenants.postgresql import edges
from tenants.postgresql.planned import Planned
from tenants.scope import across_tenants, current_tenant_id, tenant_scope

Given = Callable[[TenantRequest], int]
Read = Callable[[Any], Any]

# How fields read what JSON tells as it is.
_AS_TOLD = {each.to_python for each in (IntegerField, CharField, TextField, BooleanField, JSONField)}

# Numbers that no row has: they stand for the tenant and for what a request gives, while SQL is made.
_ANY_TENANT = 4_611_686_018_427_387_001
_ANY_NUMBER = 1_987_654_001


@dataclass(frozen=True, slots=True)
class _Question:
    name: str
    build: Callable[..., QuerySet[Any]]
    given: dict[str, Given]
    everywhere: bool


@dataclass(frozen=True, slots=True)
class _Made:
    """A question as SQL, with what its columns and annotations are read by."""

    name: str
    model: type[Model] | None  # None for rows that are tuples
    sql: str
    params: tuple[Any, ...]
    fields: dict[str, tuple[str, Read | None]]
    annotations: dict[str, Read]


_questions: dict[str, _Question] = {}


def ask(name: str, build: Callable[..., QuerySet[Any]], *, everywhere: bool = True, **given: Given) -> None:
    """Have every page of a tenant ask for the rows of `build(**given)`; a second registration replaces the first.

    Without `everywhere`, those pages alone that want it. Rows of `values_list` come as tuples.
    """
    _questions[name] = _Question(name, build, given, everywhere)
    _together.cache_clear()


def want(request: HttpRequest, name: str) -> None:
    """Have this page ask for `name` along with what every page asks."""
    request.wanted_together = {*_wanted(request), name}  # type: ignore[attr-defined]  # kept on it


def _wanted(request: HttpRequest) -> set[str]:
    return getattr(request, "wanted_together", set())


def told(request: TenantRequest, name: str) -> list[Any]:
    """The rows of `name` for the request's tenant, read with all the others when the first is asked for.

    A page that only looks reads them once. Where something may be written meanwhile, each reading is a new one.
    """
    answers: dict[str, list[Any]] | None = getattr(request, "told_together", None)
    if answers is None or name not in answers or request.method not in ("GET", "HEAD"):
        if not _questions[name].everywhere:
            want(request, name)
        answers = request.told_together = _read(request)  # type: ignore[attr-defined]  # kept on it
    return answers[name]


def _read(request: TenantRequest) -> dict[str, list[Any]]:
    planned, made = _together(frozenset(_wanted(request)))
    numbers: dict[int | str, int | str] = {
        key: given(request) for question in _questions.values() for key, given in _keys(question)
    }
    with connection.cursor() as cursor:
        cursor.execute(planned.asking(numbers | {_ANY_TENANT: current_tenant_id()}))
        found = cursor.fetchone()
    return {each.name: [_row(each, row) for row in rows] for each, rows in zip(made, found, strict=True)}


@cache
def _together(wanted: frozenset[str]) -> tuple[Planned, tuple[_Made, ...]]:
    made = tuple(_make(each) for each in _questions.values() if each.everywhere or each.name in wanted)
    parts = (f"(SELECT coalesce(json_agg(t), '[]') FROM ({each.sql}) t)" for each in made)  # noqa: S608 - made by the ORM
    numbers = {key for question in _questions.values() for key, _ in _keys(question)}
    params = [param for each in made for param in each.params]
    return Planned(f"SELECT {', '.join(parts)}", params, numbers | {_ANY_TENANT}), made


def _make(question: _Question) -> _Made:
    with across_tenants("SQL is made for any tenant, and nothing is read"), tenant_scope(_ANY_TENANT):
        numbers = (key for key, _ in _keys(question))
        rows = question.build(**dict(zip(question.given, numbers, strict=True)))
        sql, params = rows.query.sql_with_params()
    fields = {field.column: (field.attname, _reader(field)) for field in rows.model._meta.concrete_fields}
    annotated = {name: each.output_field for name, each in rows.query.annotation_select.items()}
    annotations = {name: _reader(field) or field.to_python for name, field in annotated.items()}
    model = rows.model if rows._fields is None else None  # type: ignore[attr-defined]  # not in the stubs
    return _Made(question.name, model, sql, params, fields, annotations)


def _row(made: _Made, told: dict[str, Any]) -> Any:
    """What the queryset would have made, of values that came as JSON."""
    if made.model is None:
        return tuple(told.values())
    names, values = [], []
    for name, value in told.items():
        if name in made.fields:
            attname, reads = made.fields[name]
            names.append(attname)
            values.append(value if reads is None else reads(value))
    row = made.model.from_db("default", names, values)
    for name, read in made.annotations.items():
        setattr(row, name, read(told[name]))
    return row


def _reader(field: "Field[Any, Any]") -> Read | None:
    """What makes a value of this field of what JSON tells; None where that is the value."""
    if isinstance(field, DateField):
        return edges.moment if isinstance(field, DateTimeField) else edges.day
    return None if type(field).to_python in _AS_TOLD else field.to_python


def _keys(question: _Question) -> list[tuple[int, Given]]:
    """For each number that the request gives, the one that stands for it: another in each question."""
    first = _ANY_NUMBER + 10 * list(_questions).index(question.name)
    return [(first + place, given) for place, given in enumerate(question.given.values())]
