"""Bring a tenant up to date. Everything follows from the database and the clock.

`advance` does due work before any data is read, so a restart changes nothing and two processes agree.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Any, Protocol

from django.db import connection
from django.db.models import QuerySet

from sandbox import clock
from sandbox.engine import bulk, faces, guests, keys
from sandbox.engine.members import lock_members
from sandbox.service.models import Tenant


class Step(Protocol):
    """A module of the engine with due work in a tenant, done inside `lock_members`."""

    def due(self, tenant: Tenant, now: datetime, /) -> QuerySet[Any]: ...

    def advance(self, tenant: Tenant, now: datetime, /) -> None: ...


#: In the order in which they happen.
STEPS: tuple[Step, ...] = (bulk, faces, guests, keys)


# Placeholders in the SQL for the tenant and the time, since it is compiled only once.
_SOMEBODY, _SOME_TIME = "some tenant", datetime(2000, 1, 1, tzinfo=UTC)


def advance(tenant: Tenant) -> None:
    """Do due work."""
    now = clock.now()
    if not _is_anything_due(tenant, now):
        return
    with lock_members(tenant):
        for step in STEPS:
            step.advance(tenant, now)


def _is_anything_due(tenant: Tenant, now: datetime) -> bool:
    """Return whether any step has due work, with one query whose SQL is compiled once, as every call runs it."""
    statement, values = _due_query()

    def fill_in(value: Any) -> Any:
        if isinstance(value, datetime):
            return now + (value - _SOME_TIME)
        return tenant.pk if value == _SOMEBODY else value

    with connection.cursor() as cursor:
        cursor.execute(statement, [fill_in(value) for value in values])
        return bool(cursor.fetchone()[0])


@cache
def _due_query() -> tuple[str, tuple[Any, ...]]:
    due = [step.due(Tenant(pk=_SOMEBODY), _SOME_TIME).order_by().values("pk") for step in STEPS]
    asked = [rows.query.sql_with_params() for rows in due]
    statement = " OR ".join(f"EXISTS ({sql})" for sql, _values in asked)
    return f"SELECT {statement}", tuple(value for _sql, values in asked for value in values)
