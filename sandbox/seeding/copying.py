"""Copy a tenant: the same building, people and past, with its own administrator and secrets."""

from collections.abc import Sequence
from typing import Any

from django.db import connection, models, transaction

from sandbox.service.models import (
    Area,
    Camera,
    Face,
    Group,
    Guest,
    History,
    KeyBox,
    KeyUse,
    Member,
    PassController,
    ProfileImage,
    TemporaryUse,
    Tenant,
)

#: The tables that rows refer to, with the identifier that finds the copy.
_IDENTIFIERS: dict[Any, str] = {
    Group: "membergroup_id", Area: "area_id", PassController: "device_id", KeyBox: "key_device_id", Member: "member_id",
}  # fmt: skip
#: The tables to copy, in the order in which rows refer to each other.
_COPIED: tuple[type[models.Model], ...] = (
    Group, Area, PassController, KeyBox, Camera, Member, Guest, History, KeyUse, Face, ProfileImage, TemporaryUse,
)  # fmt: skip


def copy_data(of: Tenant, to: Sequence[Tenant]) -> None:
    """Copy everything in one tenant's building and log, as it is now, into other tenants that are empty.

    Running requests, one-time codes and deliveries are not copied.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(";".join(map(_copy_statement, _COPIED)), {"old": of.pk, "new": [tenant.pk for tenant in to]})


def _copy_statement(model: type[models.Model]) -> str:
    fields = [field for field in model._meta.local_concrete_fields if not field.primary_key]
    columns, values = ", ".join(f'"{field.column}"' for field in fields), ", ".join(map(_value, fields))
    table = model._meta.db_table
    rows = f"{table} r CROSS JOIN unnest(%(new)s::text[]) WITH ORDINALITY AS t (tenant_id, number)"
    # Keep the order of creation, which lists have.
    chosen = f"{rows} WHERE {_rows_of_tenant(fields)}"
    return f"INSERT INTO {table} ({columns}) SELECT {values} FROM {chosen} ORDER BY t.number, r.id"  # noqa: S608


def _value(field: "models.Field[Any, Any]") -> str:
    if field.column == "tenant_id":
        return "t.tenant_id"
    if (model := field.related_model) not in _IDENTIFIERS:
        return f'r."{field.column}"'
    table, identifier = _table(model), _IDENTIFIERS[model]
    return (
        f"(SELECT n.id FROM {table} n JOIN {table} o USING ({identifier})"  # noqa: S608 - our own names
        f' WHERE o.id = r."{field.column}" AND n.tenant_id = t.tenant_id)'
    )


def _table(model: Any) -> str:
    return str(model._meta.db_table)


def _rows_of_tenant(fields: "list[models.Field[Any, Any]]") -> str:
    """Return a condition for the tenant's rows: by their own column, or by that of their owner."""
    if any(field.column == "tenant_id" for field in fields):
        return "r.tenant_id = %(old)s"
    owner = next(field for field in fields if field.related_model in _IDENTIFIERS)
    return f'r."{owner.column}" IN (SELECT id FROM {_table(owner.related_model)} WHERE tenant_id = %(old)s)'  # noqa: S608
