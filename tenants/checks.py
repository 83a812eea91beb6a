"""System checks: the vault's keys open the stored secrets, and the site's role has no excess privileges.

Checks that prevent a process from starting are in `portal.site.startup`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import ProgrammingError, connections

from tenants import key_rotation


@checks.register(checks.Tags.database)
def check_vault_keys(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check that each key of VAULT_KEYS opens what was encrypted under its ID. A database without tables is skipped."""
    wrong: list[str] = []
    with contextlib.suppress(ProgrammingError):
        wrong = key_rotation.wrong_keys() if databases else []
    return [
        checks.Error(
            f"VAULT_KEYS: the key {name!r} does not open what was sealed under this id: it is another key.",
            hint="Give the former key back. Where it is lost, give the new key an id of its own, and connect each "
            "tenant again on its connection page.",
            id="tenants.E003",
        )
        for name in wrong
    ]


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


@checks.register(checks.Tags.database)
def check_site_role(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check that the role of DATABASE_URL has only the privileges that the site needs (`tenants.database_grants`)."""
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
