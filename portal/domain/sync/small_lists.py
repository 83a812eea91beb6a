"""Read short lists (groups, areas, doors, key boxes) and the tenant's record, and replace them as a whole.

Each takes one call or a few.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from accessapi.client import Client
from accessapi.errors import ServiceError
from accessapi.limits import PAGE_MAX
from accessapi.resources.received import as_list
from portal.base.timers.clock import database_now
from portal.domain import events
from portal.domain.budget.client import client as budgeted
from portal.domain.events import MirrorKind
from portal.domain.people.models import Group, Member
from portal.domain.people.row_building import unknown_fields
from portal.domain.people.text_folding import sort_key
from portal.domain.places.models import Area, KeyBox, PassController, TenantRecord
from portal.domain.sync import failure_reasons
from portal.domain.sync.schedule import MirrorLease
from tenants.models import Connection, TenantModel


@dataclass(frozen=True)
class _SmallList:
    """The description of one list, for reading and storing. `columns` returns the values besides the identifier."""

    operation: str
    model: type[TenantModel]
    identifier: str
    columns: Callable[[Any, dict[str, Any]], dict[str, Any]]
    is_paged: bool = False


def sync_list(connection: Connection, lease: MirrorLease) -> None:
    """Read all of the lease's kind and write it to the mirror. If any page fails, nothing is changed."""
    described = _LISTS[lease.kind]
    started = database_now()
    try:
        found, is_whole = _read_all(budgeted(connection, lease.priority), described)
    except ServiceError as error:
        lease.stop_after(error)
        return
    with transaction.atomic():
        lease.renew()
        _replace(described, found, started, is_whole=is_whole)
        skipped = "" if is_whole else failure_reasons.SKIPPED
        lease.complete(as_of=started, total=described.model.objects.count(), error=skipped)
        events.publish(lease.kind, connection.tenant)


def sync_tenant(connection: Connection, lease: MirrorLease) -> None:
    """Read and save the tenant's record (operation 1), without the secret that signs notifications."""
    started = database_now()
    try:
        data = budgeted(connection, lease.priority).call("get_tenant").data
    except ServiceError as error:
        lease.stop_after(error)
        return
    with transaction.atomic():
        lease.renew()
        save_tenant(data, started)
        lease.complete(as_of=started, total=1)
        events.publish(MirrorKind.TENANT, connection.tenant)


def save_tenant(data: Mapping[str, Any], at: datetime) -> None:
    """Save the tenant's record from a reading that began at `at`, unless a newer one is stored."""
    _save_tenant_columns(_tenant_columns(data), at)


def save_webhook_settings(body: Mapping[str, Any], at: datetime) -> None:
    """Save webhook settings that the service accepted: a body of operation 2 with all of them."""
    _save_tenant_columns(_webhook_columns(body), at)


def _save_tenant_columns(columns: dict[str, Any], at: datetime) -> None:
    with transaction.atomic():
        row = TenantRecord.objects.select_for_update().first() or TenantRecord(read_at=at)
        if row.read_at > at:
            return
        for name, value in (columns | {"read_at": at}).items():
            setattr(row, name, value)
        row.save()


def _read_all(client: Client, described: _SmallList) -> tuple[dict[str, dict[str, Any]], bool]:
    """Return the columns of every item by identifier, and whether every item has an identifier."""
    query = {"limit": PAGE_MAX} if described.is_paged else {}
    found: dict[str, dict[str, Any]] = {}
    is_whole = True
    pages = client.pages(described.operation, query) if described.is_paged else [client.call(described.operation)]
    for answer in pages:
        is_whole &= not answer.value.unreadable_rows
        for item, row in zip(answer.value.items, answer.value.readable_rows, strict=True):
            found[getattr(item, described.identifier)] = described.columns(item, row)
    return found, is_whole


def _replace(
    described: _SmallList, columns: Mapping[str, dict[str, Any]], started: datetime, *, is_whole: bool
) -> None:
    """Write a list to the mirror. If it is not whole, nothing is deleted: missing items may be unreadable ones."""
    rows, key = described.model.objects, described.identifier
    known = {getattr(row, key): row for row in rows.select_for_update().order_by("pk")}
    newer = {identifier for identifier, row in known.items() if _is_newer(row, started)}
    if is_whole:
        rows.filter(**{f"{key}__in": known.keys() - columns.keys() - newer}).delete()
    changed = [
        row
        for identifier, row in known.items()
        if identifier not in newer and _update_row(row, columns.get(identifier))
    ]
    if changed:
        rows.bulk_update(changed, list(next(iter(columns.values()))), batch_size=500)
    rows.bulk_create(
        [described.model(**{key: each}, **values) for each, values in columns.items() if each not in known],
        batch_size=500,
    )
    if described.model is Group:
        update_group_names(changed)


def _is_newer(row: Any, started: datetime) -> bool:
    read_at = getattr(row, "first_hand_at", None)
    return read_at is not None and read_at > started


def _update_row(row: Any, values: Mapping[str, Any] | None) -> bool:
    """Set the values on the row and return whether any has changed."""
    changes = {name: value for name, value in (values or {}).items() if getattr(row, name) != value}
    for name, value in changes.items():
        setattr(row, name, value)
    return bool(changes)


def update_group_names(groups: Iterable[Any]) -> None:
    """Update the group's name in the rows of its members, which lists show and sort by."""
    for group in groups:
        members = Member.objects.filter(membergroup_id=group.membergroup_id, gone_at__isnull=True)
        members.exclude(membergroup_name=group.membergroup_name).update(
            membergroup_name=group.membergroup_name, group_key=group.name_key, digest=None
        )


def _extra_fields(item: Any) -> dict[str, Any]:
    """Return fields that the specification does not name, and values that do not have its types, unchanged."""
    return unknown_fields({**item.unknown_fields, **item.invalid_values}, set())


def group_columns(item: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a Group for the service's record."""
    name = item.membergroup_name or ""
    return {
        "membergroup_name": name,
        "name_key": sort_key(name),
        "member_count": item.member_count,
        "extra": _extra_fields(item),
    }


def _area_columns(item: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "area_name": item.area_name or "",
        "is_outside": item.is_outside,
        "is_management": item.is_management,
        "devices_list": _array(row, "devices_list"),
        "extra": _extra_fields(item),
    }


def _door_columns(item: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    return {"device_name": item.device_name or "", "extra": _extra_fields(item)}


def _key_box_columns(item: Any, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "key_device_name": item.key_device_name or "",
        "product_type": item.product_type or "",
        "number_of_management": item.number_of_management,
        "units": _array(row, "units"),
        "extra": _extra_fields(item),
    }


def _tenant_columns(data: Mapping[str, Any]) -> dict[str, Any]:
    settings = _object(data.get("settings"))
    name = data.get("tenant_name")
    others = {name: value for name, value in settings.items() if name not in ("holiday", "webhook")}
    extra = unknown_fields(data, {"tenant_id", "tenant_name", "settings"})
    if others:
        extra["settings"] = unknown_fields(others, set())
    return {
        "tenant_name": name if isinstance(name, str) else "",
        "holiday": _object(settings.get("holiday")),
        "extra": extra,
        **_webhook_columns(_object(settings.get("webhook"))),
    }


def _webhook_columns(webhook: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "webhook": unknown_fields(webhook, {"secret_token"}),
        "has_webhook_secret": bool(webhook["secret_token"]) if "secret_token" in webhook else None,
    }


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _array(row: Mapping[str, Any], name: str) -> list[Any]:
    """Return the objects of an array with all their fields; other elements are left out."""
    return [each for each in as_list(row.get(name)) if isinstance(each, dict)]


_LISTS = {
    MirrorKind.GROUPS: _SmallList("list_membergroups", Group, "membergroup_id", group_columns, is_paged=True),
    MirrorKind.AREAS: _SmallList("list_areas", Area, "area_id", _area_columns),
    MirrorKind.PASS_CONTROLLERS: _SmallList("list_pass_controllers", PassController, "device_id", _door_columns),
    MirrorKind.KEY_BOXES: _SmallList("list_key_boxes", KeyBox, "key_device_id", _key_box_columns),
}
