"""Privileges of the site's database role: only what the site needs.

Two roles share the database. The owner (DATABASE_OWNER_URL) owns the tables; `manage.py migrate` signs in as the owner.
All other processes sign in as the site's role (DATABASE_URL), which owns nothing. So a security hole in the site cannot
empty a table, switch off a trigger or row security, or change recorded history.

`manage.py migrate` calls `apply` at its end, so that a new table cannot be forgotten. If the running site needs
something that only the owner can do, a migration adds a function of the owner (SECURITY DEFINER). Without
DATABASE_OWNER_URL one role does everything, and `check_site_role` warns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.core import checks
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, ProgrammingError, connections, transaction

_ALL_PRIVILEGES = "SELECT, INSERT, UPDATE, DELETE"
_ADD_ONLY, _READ_ONLY = "SELECT, INSERT", "SELECT"
#: The site's privileges on these tables. All other tables have `_ALL_PRIVILEGES`.
_RESTRICTED_TABLES = {
    # Records that never change.
    "tenants_auditentry": _ADD_ONLY,
    "tenants_auditkind": _ADD_ONLY,
    "alerts_alertnote": _ADD_ONLY,
    "reviews_step": _ADD_ONLY,
    # Needed to verify signatures later.
    "tenants_signingkey": _ADD_ONLY,
    # Written by migrations.
    "django_migrations": _READ_ONLY,
    "django_content_type": _READ_ONLY,
    "auth_permission": _READ_ONLY,
}

# Without partitions: they are read and written through the partitioned table.
_TABLES = """
SELECT relname, relkind::text, relispartition FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relowner = current_user::regrole AND relkind IN ('r', 'p', 'S')
ORDER BY relname
"""
_FUNCTIONS = """
SELECT oid::regprocedure::text, prosecdef FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace AND proowner = current_user::regrole ORDER BY 1
"""


def site_privileges(table: str) -> str:
    """Return the site's privileges on this table, separated by commas."""
    return _RESTRICTED_TABLES.get(table, _ALL_PRIVILEGES)


def apply(alias: str = DEFAULT_DB_ALIAS) -> None:
    """Grant the site's role exactly the privileges that it needs on everything that the signed-in role owns."""
    connection, role = connections[alias], str(settings.DATABASES[alias]["USER"])
    quote = connection.ops.quote_name
    with transaction.atomic(using=alias), connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        if role in ("", cursor.fetchone()[0]):
            return
        role = quote(role)
        cursor.execute(_TABLES)
        tables: dict[str, list[str]] = {}
        for name, kind, is_part in cursor.fetchall():
            tables.setdefault("S" if kind == "S" else "" if is_part else site_privileges(name), []).append(quote(name))
        cursor.execute(_FUNCTIONS)
        functions = cursor.fetchall()
        sequences = tables.pop("S", [])
        statements = [
            *_revoke_statements("TABLE", (name for names in tables.values() for name in names), role),
            *_revoke_statements("SEQUENCE", sequences, role),
            *_revoke_statements("FUNCTION", (name for name, _ in functions), role),
            *(_grant_statement(what, "TABLE", names, role) for what, names in tables.items() if what),
            _grant_statement("USAGE", "SEQUENCE", sequences, role),
            _grant_statement("EXECUTE", "FUNCTION", [name for name, is_for_others in functions if is_for_others], role),
        ]
        cursor.execute("; ".join(filter(None, statements)) or "SELECT")


def _revoke_statements(kind: str, names: Iterable[str], role: str) -> Iterator[str]:
    if listed := ", ".join(names):
        yield f"REVOKE ALL ON {kind} {listed} FROM PUBLIC, {role}"


def _grant_statement(what: str, kind: str, names: Iterable[str], role: str) -> str:
    listed = ", ".join(names)
    return f"GRANT {what} ON {kind} {listed} TO {role}" if listed else ""


@contextmanager
def as_owner(alias: str = DEFAULT_DB_ALIAS) -> Iterator[None]:
    """Sign in as the owner of the tables within the block, if DATABASE_OWNER_URL is set.

    Raises CommandError with advice if the role lacks a privilege in PostgreSQL.
    """
    connection = connections[alias]
    usual = connection.settings_dict
    connection.close()
    connection.settings_dict = usual | owner_settings(usual) | {"IS_OWNER": True}
    try:
        yield
    except ProgrammingError as error:
        if isinstance(error.__cause__, psycopg.errors.InsufficientPrivilege):
            raise CommandError(
                f"PostgreSQL refused: {str(error).strip()}. Only the role that owns the tables may do this: set "
                "DATABASE_OWNER_URL to its address. docs/database.md says how to create that role."
            ) from error
        raise
    finally:
        connection.close()
        connection.settings_dict = usual


def owner_settings(site_settings: dict[str, Any]) -> dict[str, Any]:
    """Return these connection settings as the owner's: the same database, without a pool."""
    if not settings.DATABASE_OWNER:
        return site_settings
    who = {name: settings.DATABASE_OWNER[name] for name in ("USER", "PASSWORD", "HOST", "PORT", "OPTIONS")}
    return site_settings | who


_SEPARATE_ROLES_HINT = "Let another role own the tables: docs/database.md has the commands."
#: Privileges that the site's role should not have: the condition, its meaning, and the fix. Superusers have all of
#: them.
_EXCESS_PRIVILEGES = {
    "W002": (
        "EXISTS (SELECT FROM ours WHERE relowner = site.oid)",
        "owns tables: it can drop them and switch their row security and triggers off",
        _SEPARATE_ROLES_HINT,
    ),
    "W003": (
        "EXISTS (SELECT FROM ours WHERE relowner <> site.oid AND pg_has_role(site.oid, relowner, 'MEMBER'))",
        "is a member of the role that owns the tables",
        "As the owner or a superuser: REVOKE <owner> FROM <role>.",
    ),
    "W004": (
        """EXISTS (SELECT FROM ours WHERE relname IN ('tenants_auditentry', 'tenants_auditkind') AND (
            has_any_column_privilege(site.oid, oid, 'UPDATE')
            OR has_table_privilege(site.oid, oid, 'DELETE, TRUNCATE, TRIGGER')))""",
        "can change, delete or truncate the audit log",
        "Run `manage.py migrate` with DATABASE_OWNER_URL: it takes away what the site does not need.",
    ),
    "W005": (
        "has_schema_privilege(site.oid, current_schema(), 'CREATE')",
        "can create tables and functions in the database",
        "As the owner: REVOKE CREATE ON SCHEMA public FROM PUBLIC, <role>.",
    ),
}
_EXCESS_QUERY = """
WITH ours AS (
    SELECT oid, relname, relowner FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
)
SELECT site.rolname, {conditions}
FROM pg_roles site WHERE rolname = coalesce((SELECT rolname FROM pg_roles WHERE rolname = %s), current_user)
""".format(conditions=", ".join(condition for condition, *_ in _EXCESS_PRIVILEGES.values()))  # noqa: S608 - our own conditions


def check_site_role(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check that the role of DATABASE_URL has only the privileges that the site needs."""
    found: list[checks.CheckMessage] = []
    for alias in databases or ():
        with connections[alias].cursor() as cursor:
            cursor.execute(_EXCESS_QUERY, [str(settings.DATABASES[alias]["USER"])])
            role, *answers = cursor.fetchone()
        found += [
            checks.Warning(f"The site's database role {role!r} {meaning}.", hint=hint, id=f"tenants.{number}")
            for (number, (_, meaning, hint)), is_so in zip(_EXCESS_PRIVILEGES.items(), answers, strict=True)
            if is_so
        ]
    return found
