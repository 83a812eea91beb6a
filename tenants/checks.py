"""Start-up checks: is the vault usable, and does row security bind the role that the site uses?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


@checks.register(checks.Tags.database)
def row_security_binds(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check that the database role is a plain one: superusers and roles with BYPASSRLS see every tenant's rows."""
    found: list[checks.CheckMessage] = []
    for alias in databases or ():
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
            (bypasses,) = cursor.fetchone()
        if bypasses:
            found.append(
                checks.Warning(
                    f"Row security does not bind the role of the database {alias!r}: a superuser, or allowed past it.",
                    hint="Give the site a plain role that owns its tables.",
                    id="tenants.W001",
                )
            )
    return found
