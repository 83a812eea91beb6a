"""Emptying the tables after a test that other threads take part in: when none of them is at work on the tables."""

import threading
import time
from functools import cache

from django.core.signals import request_finished, request_started
from django.db import connection, transaction
from django.test import TransactionTestCase

from tenants.scope import across_tenants

#: Filled by the migrations' own signals and never changed by a test.
_KEPT = {"django_migrations", "django_content_type", "auth_permission"}
_SECONDS = 60
_at_work: set[threading.Thread] = set()


def install() -> None:
    """From now on, tests end this way."""
    request_started.connect(_begins, dispatch_uid="flushing")
    request_finished.connect(_ends, dispatch_uid="flushing")
    TransactionTestCase._fixture_teardown = _empty


def _begins(**_: object) -> None:
    if threading.current_thread() is not threading.main_thread():
        _at_work.add(threading.current_thread())


def _ends(**_: object) -> None:
    _at_work.discard(threading.current_thread())


def wait_for_requests() -> None:
    """A page that was closed may have left a request with the test's own server, whose locks we would meet."""
    end = time.monotonic() + _SECONDS
    while any(thread.is_alive() for thread in list(_at_work)):
        assert time.monotonic() < end, f"a request goes on after the test: {_at_work}"
        time.sleep(0.01)
    _at_work.clear()


def _empty(_case: TransactionTestCase) -> None:
    """Delete what there is. To truncate all tables takes a hundred times as long as to look which ones have rows."""
    wait_for_requests()
    with across_tenants("a test's rows are deleted"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_filled())
        filled = {name for (name,) in cursor.fetchall()}
        if alone := filled - _referenced():
            cursor.execute(f"TRUNCATE {_names(alone)}")  # also what may only be added to
        for table in filled & _referenced():
            cursor.execute(f"DELETE FROM {_names({table})}")


@cache
def _filled() -> str:
    """Return the statement that tells which tables have rows."""
    tables = sorted(set(connection.introspection.django_table_names(include_views=False)) - _KEPT)
    return " UNION ALL ".join(f"SELECT '{each}' WHERE EXISTS (SELECT FROM {_names({each})})" for each in tables)


@cache
def _referenced() -> set[str]:
    """Return the tables that others refer to, which cannot be truncated by themselves."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT confrelid::regclass::text FROM pg_constraint WHERE contype = 'f'")
        return {name.strip('"') for (name,) in cursor.fetchall()}


def _names(tables: set[str]) -> str:
    return ", ".join(map(connection.ops.quote_name, sorted(tables)))
