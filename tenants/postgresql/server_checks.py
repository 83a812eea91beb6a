"""Checks of the server before a process uses it for tenants: once in each process.

Row security does not bind superusers. The tenant is set on a session, and locks belong to a session, so sessions must
not be swapped between transactions. Records must survive a power cut.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

_OLDEST_VERSION = 15
_DURABILITY_SETTINGS = ("fsync", "full_page_writes", "synchronous_commit")
_ROLE = "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
# For `portal.base.timers.database_identity`; PostgreSQL allows it to every role by default.
_MAY_READ_IDENTITY = """SELECT has_function_privilege('pg_control_system()', 'EXECUTE')
AND has_function_privilege('pg_control_checkpoint()', 'EXECUTE')"""
_PID = "SELECT pg_backend_pid()"
# If a pooler rotates its servers, a session meets the same server again after a few statements.
_ROUNDS = 4

_passed: set[tuple[Any, ...]] = set()


def require_safe_server(params: Mapping[str, Any]) -> None:
    """Raise ImproperlyConfigured unless the server of these connection parameters keeps tenants apart."""
    if _server(params) not in _passed and (wrong := find_problems(params)):
        raise ImproperlyConfigured(" ".join(wrong))


def find_problems(params: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each problem. Raises psycopg.OperationalError if the server is unreachable."""
    wrong = list(_check_server(params))
    if not wrong:
        _passed.add(_server(params))
    return wrong


def _server(params: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(params.get(name) for name in ("host", "port", "user"))


def _check_server(params: Mapping[str, Any]) -> Iterator[str]:
    with ExitStack() as stack:
        one, other = (stack.enter_context(psycopg.connect(**params, autocommit=True)) for _ in range(2))
        if one.info.server_version < _OLDEST_VERSION * 10_000:
            yield f"DATABASE_URL: PostgreSQL {_OLDEST_VERSION} or newer is needed."
        role, is_superuser, bypasses = one.execute(_ROLE).fetchone() or ("", False, False)
        if is_superuser or bypasses:
            yield (
                f"DATABASE_URL: the role {role!r} is a superuser, or has BYPASSRLS: row security would not keep "
                "tenants apart. Use a role with NOSUPERUSER NOBYPASSRLS (docs/database.md)."
            )
        if not (one.execute(_MAY_READ_IDENTITY).fetchone() or (False,))[0]:
            yield (
                f"DATABASE_URL: the role {role!r} may not ask which server this is: a restored backup would not be "
                "noticed. As a superuser: GRANT EXECUTE ON FUNCTION pg_control_system(), pg_control_checkpoint() TO it."
            )
        if _are_swapped(one, other):
            yield (
                "DATABASE_URL leads to a connection pooler in transaction mode: one tenant would get the rows of "
                "another. Use pool_mode = session, or the address of PostgreSQL itself."
            )
        elif not settings.INSECURE and (off := [name for name in _DURABILITY_SETTINGS if _is_off(one, name)]):
            yield (
                f"DATABASE_URL: the server runs with {', '.join(off)} off. After a power cut it could forget what was "
                "sent, and it would be sent again. Switch it on."
            )


def _are_swapped(one: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> bool:
    """Return whether two open sessions share one server process, or one session has two."""
    pids = [(_pid(one), _pid(other)) for _ in range(_ROUNDS)]
    if len(set(pids)) > 1 or pids[0][0] == pids[0][1]:
        return True
    with other.transaction():  # takes the server of the first session, unless sessions have their own
        return _pid(other) != pids[0][1] or _pid(one) != pids[0][0]


def _pid(connection: psycopg.Connection[Any]) -> int:
    (pid,) = connection.execute(_PID).fetchone() or (0,)
    return int(pid)


def _is_off(connection: psycopg.Connection[Any], name: str) -> bool:
    (value,) = connection.execute("SELECT current_setting(%s)", [name]).fetchone() or ("",)
    return bool(value == "off")
