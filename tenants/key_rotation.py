"""Re-encrypt every secret in the database under the vault's current key, row by row, while the site runs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.core import checks
from django.db import ProgrammingError, connection, models, transaction

from tenants import vault
from tenants.scope import across_tenants
from tenants.staff.adapter import MFA_BINDING
from tenants.vault import EncryptedField, Sealed

# Rows at each end of a table among which one with a secret is searched.
_SAMPLE_ROWS = 100


@dataclass(frozen=True)
class Column:
    """One encrypted column of one table."""

    model: type[models.Model]
    field: EncryptedField

    @property
    def label(self) -> str:
        return f"{self.model._meta.label}.{self.field.name}"


@dataclass(frozen=True)
class Batch:
    """The number of re-encrypted rows, and the last key that was read; None if nothing is left."""

    changed: int
    last: Any


def columns() -> list[Column]:
    """Return every encrypted column of every installed app."""
    return [
        Column(model, field)
        for model in apps.get_models()
        if not model._meta.proxy
        for field in model._meta.local_fields
        if isinstance(field, EncryptedField)
    ]


def rotate_batch(column: Column, size: int, after: Any = None) -> Batch:
    """Re-encrypt up to `size` rows after the key `after`, skipping rows that another process holds.

    A row is locked while it is read and written, so that no concurrent change is lost. Secrets that cannot be decrypted
    stay.
    """
    with across_tenants("keys are rotated for all tenants at once"), transaction.atomic():
        _allow_audit_changes()
        rows = _load_outdated(column, size, after, "FOR UPDATE SKIP LOCKED")
        changed = 0
        for pk, tenant_id, data in rows:
            fresh = _reseal(data, column.field.binding(tenant_id))
            if fresh is not None:
                manager = getattr(column.model, "objects_across_tenants", column.model._default_manager)
                changed += manager.filter(pk=pk).update(**{column.field.name: Sealed(fresh)})
    return Batch(changed, rows[-1][0] if rows else None)


def rotate_column(column: Column, size: int) -> int:
    """Re-encrypt a column until nothing is left to change. Return the number of re-encrypted rows."""
    total = 0
    while True:
        changed, batch = 0, rotate_batch(column, size)
        while batch.last is not None:
            changed += batch.changed
            batch = rotate_batch(column, size, batch.last)
        total += changed
        if not changed:
            return total


def rotate_second_factors() -> int:
    """Re-encrypt TOTP seeds and recovery codes, which allauth stores in JSON. Return how many."""
    total = 0
    for pk in Authenticator.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            row = Authenticator.objects.select_for_update().filter(pk=pk).first()
            data = _resealed_json(row.data) if row else None
            if row is not None and data != row.data:
                row.data = data
                row.save(update_fields=["data"])
                total += 1
    return total


def list_remaining(column: Column, at_most: int = 1000) -> list[tuple[Any, bool]]:
    """Yield (key, whether it opens) of rows that are not under the current key."""
    with across_tenants("keys are counted for all tenants at once"):
        rows = _load_outdated(column, at_most, None, "")
    return [(pk, _reseal(data, column.field.binding(tenant_id)) is not None) for pk, tenant_id, data in rows]


def wrong_keys() -> list[str]:
    """Return the IDs of keys in VAULT_KEYS that do not open what was encrypted under their ID.

    Only one secret among the first and the last rows of each column is opened, so that large tables take no longer.
    """
    found = columns()
    samples = [_sample(number, column, order) for number, column in enumerate(found) for order in ("ASC", "DESC")]
    with across_tenants("a secret of each key is opened"), connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(samples))
        rows = [(found[number].field.binding(tenant_id), bytes(data)) for number, tenant_id, data in cursor.fetchall()]
    return sorted(
        {_key_name(data) for bound_to, data in rows if _reseal(data, bound_to) is None} & {*vault.key_ring().ciphers}
    )


def check_vault_keys(databases: Sequence[str] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Check that each key of VAULT_KEYS opens what was encrypted under its ID. A database without tables is skipped."""
    wrong: list[str] = []
    with contextlib.suppress(ProgrammingError):
        wrong = wrong_keys() if databases else []
    return [
        checks.Error(
            f"VAULT_KEYS: the key {name!r} does not open what was sealed under this id: it is another key.",
            hint="Give the former key back. Where it is lost, give the new key an id of its own, and connect each "
            "tenant again on its connection page.",
            id="tenants.E003",
        )
        for name in wrong
    ]


def _sample(number: int, column: Column, order: str) -> str:
    secret, tenant, key, table = _sql_names(column)
    few = f"SELECT {tenant} AS tenant, {secret} AS secret FROM {table} ORDER BY {key} {order} LIMIT {_SAMPLE_ROWS}"  # noqa: S608 - ours
    return f"(SELECT {number}, tenant, secret FROM ({few}) AS few WHERE secret IS NOT NULL LIMIT 1)"  # noqa: S608 - ours


def _key_name(data: bytes) -> str:
    try:
        return vault.key_name(data)
    except vault.VaultError:
        return ""


def _allow_audit_changes() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL portal.rotating = 'on'")


def _sql_names(column: Column) -> tuple[str, str, str, str]:
    """Return the SQL names of a column: its tenant, its secret, its key and its table."""
    meta, quote = column.model._meta, connection.ops.quote_name
    owned = any(field.column == "tenant_id" for field in meta.local_fields)
    names = quote(str(column.field.column)), quote(str(meta.pk.column if meta.pk else "id")), quote(meta.db_table)
    return names[0], quote("tenant_id") if owned else "0", names[1], names[2]


def _load_outdated(column: Column, size: int, after: Any, tail: str) -> list[tuple[Any, int, bytes]]:
    (secret, tenant, key, table), head = _sql_names(column), vault.current_prefix()
    behind = f"AND {key} > %s" if after is not None else ""
    sql = (
        f"SELECT {key}, {tenant}, {secret} FROM {table} WHERE {secret} IS NOT NULL"  # noqa: S608 - ours
        f" AND substring({secret} FROM 1 FOR %s) <> %s {behind} ORDER BY {key} LIMIT %s {tail}"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [len(head), head, *([after] if after is not None else []), size])
        return [(pk, int(tenant_id), bytes(data)) for pk, tenant_id, data in cursor.fetchall()]


def _reseal(data: bytes, bound_to: str) -> bytes | None:
    try:
        return vault.seal(vault.open_sealed(data, bound_to=bound_to), bound_to=bound_to)
    except vault.VaultError:
        return None


def _resealed_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _resealed_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_resealed_json(item) for item in value]
    if not isinstance(value, str):
        return value
    try:
        data = bytes.fromhex(value)
        if vault.key_name(data) == vault.key_ring().current:
            return value
        fresh = _reseal(data, MFA_BINDING)
    except (ValueError, vault.VaultError):
        return value
    return fresh.hex() if fresh else value
