"""Empty the tables after a test with other threads, when none of them uses the tables."""

import threading
import time
from functools import cache
from typing import Any

from django.core.signals import request_finished, request_started
from django.db import connection
from django.test import TransactionTestCase

from tenants.postgresql.grants import owner_settings
from tenants.postgresql.prepared_statements import PreparedStatement
from tenants.scope import across_tenants

#: Filled by the migrations' own signals and never changed by a test.
_KEPT = {"django_migrations", "django_content_type", "auth_permission"}
#: Tables whose rows cannot be deleted (holds also protect those of their incidents). Rows whose deletion leads to
#: others go first.
_ONLY_ADDED_TO, _HOLDS, _FIRST = "tenants_auditentry", "evidence_legalhold", "areas_grant"
_EMPTIED = (
    f"ALTER TABLE {_ONLY_ADDED_TO} DISABLE TRIGGER append_only_as_a_whole",
    f"TRUNCATE {_ONLY_ADDED_TO}",
    f"ALTER TABLE {_ONLY_ADDED_TO} ENABLE TRIGGER append_only_as_a_whole",
)
_SECONDS = 60
_at_work: set[threading.Thread] = set()


def install() -> None:
    """Make all tests end in this way."""
    request_started.connect(_begins, dispatch_uid="flushing")
    request_finished.connect(_ends, dispatch_uid="flushing")
    TransactionTestCase._fixture_teardown = _empty
    TransactionTestCase._should_reload_connections = _is_lost


def _is_lost(_case: TransactionTestCase) -> bool:
    """Check whether the session is broken. A working one is kept, since a new one plans every statement again."""
    return not connection.is_usable()


def _begins(**_: object) -> None:
    if threading.current_thread() is not threading.main_thread():
        _at_work.add(threading.current_thread())


def _ends(**_: object) -> None:
    _at_work.discard(threading.current_thread())


def wait_for_requests() -> None:
    """Wait for requests of closed pages that the test's own server still handles: their locks block the deletion."""
    end = time.monotonic() + _SECONDS
    while any(thread.is_alive() for thread in list(_at_work)):
        assert time.monotonic() < end, f"a request goes on after the test: {_at_work}"
        time.sleep(0.01)
    _at_work.clear()


def end() -> None:
    """Close the owner's session, because the database is about to be dropped."""
    if owner.cache_info().currsize:
        owner().close()
        owner.cache_clear()


def _empty(_case: TransactionTestCase) -> None:
    """Delete all rows, table by table. Truncating one table takes longer than looking for rows in all of them."""
    wait_for_requests()
    with across_tenants("a test's rows are deleted"), owner().cursor() as cursor:
        cursor.execute(_filled().execute_text({}))
        filled = sorted((name for (name,) in cursor.fetchall()), key=lambda name: name != _FIRST)
        statements = [f"DELETE FROM {connection.ops.quote_name(name)}" for name in filled]
        cursor.execute(f"SELECT EXISTS (SELECT FROM {_ONLY_ADDED_TO}), EXISTS (SELECT FROM {_HOLDS})")
        has_entries, has_holds = cursor.fetchone()
        if has_entries:
            statements.extend(_EMPTIED)
        if has_holds:
            statements.insert(0, f"TRUNCATE {_HOLDS}")
        if statements:
            cursor.execute("; ".join(statements))  # one message is one transaction


@cache
def owner() -> Any:
    """Return a session of the role that owns the tables. The site's role cannot empty them."""
    session = connection.copy("owner")
    session.settings_dict = owner_settings(connection.settings_dict)
    return session


@cache
def _filled() -> PreparedStatement:
    """Return the statement that lists the tables with rows.

    Planning it takes ten times as long as running it, and a TRUNCATE of one of its tables would make it planned again.
    """
    tables = set(connection.introspection.django_table_names(include_views=False)) - _KEPT
    tables = sorted(tables - {_ONLY_ADDED_TO, _HOLDS})
    each = (f"SELECT '{table}' WHERE EXISTS (SELECT FROM {connection.ops.quote_name(table)})" for table in tables)
    return PreparedStatement(" UNION ALL ".join(each), ())
