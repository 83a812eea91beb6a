"""Checks of the installation: is the vault usable, and may the site's database role do only what it needs?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from tenants import vault


@checks.register(checks.Tags.security)
def vault_opens(**kwargs: Any) -> list[checks.CheckMessage]:
    """Check that the keys in VAULT_KEYS exist and are well formed."""
    try:
        vault.ring()
    except ImproperlyConfigured as error:
        return [checks.Error(str(error), id="tenants.E001")]
    return []


_SEPARATE = "Let another role own the tables: docs/database.md has the commands."
#: What the site's role should not be or do: the condition, what it means, and what to do. Superusers have all of them.
_TOO_MUCH = {
    "W001": (
        "site.rolsuper OR site.rolbypassrls",
        "is a superuser, or has BYPASSRLS: row security does not keep tenants apart",
        "Give the site a plain role: NOSUPERUSER NOBYPASSRLS.",
    ),
    "W002": (
        "EXISTS (SELECT FROM ours WHERE relowner = site.oid)",
        "owns tables: it can drop them and switch their row security and triggers off",
        _SEPARATE,
    ),
    "W003": (
        "EXISTS (SELECT FROM ours WHERE relowner <> site.oid AND pg_has_role(site.oid, relowner, 'MEMBER'))",
        "is a member of the role that owns the tables",
        "As the owner or a superuser: REVOKE <owner> FROM <role>.",
    ),
    "W004": (
        """EXISTS (SELECT FROM ours WHERE relname = 'tenants_auditentry' AND (
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
_FOUND = """
WITH ours AS (
    SELECT oid, relname, relowner FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
)
SELECT site.rolname, {conditions}
FROM pg_roles site WHERE rolname = coalesce((SELECT rolname FROM pg_roles WHERE rolname = %s), current_user)
""".format(conditions=", ".join(condition for condition, *_ in _TOO_MUCH.values()))  # noqa: S608 - our own conditions


@checks.register(checks.Tags.database)
def role_is_limited(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check that the role of DATABASE_URL may do only what the site needs (`tenants.grants`)."""
    found: list[checks.CheckMessage] = []
    for alias in databases or ():
        with connections[alias].cursor() as cursor:
            cursor.execute(_FOUND, [str(settings.DATABASES[alias]["USER"])])
            role, *answers = cursor.fetchone()
        found += [
            checks.Warning(f"The site's database role {role!r} {meaning}.", hint=hint, id=f"tenants.{number}")
            for (number, (_, meaning, hint)), is_so in zip(_TOO_MUCH.items(), answers, strict=True)
            if is_so
        ]
    return found
