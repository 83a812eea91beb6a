"""Store our own successful writes of guests (operations 20 and 22) and single reads (21) in the mirror."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from portal.base.timers.clock import database_now
from portal.domain.mirror.fields.guests import AREAS, END, GRACE, GUEST, KEYS, KEYS_RETURN_END, values_from_read
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import Guest, MirrorState
from portal.domain.mirror.row_building import GuestRowBuilder
from tenants.models import Tenant
from tenants.scope import tenant_scope

_DETAIL = GUEST.names_in_column("detail")
# The values after a creation that leaves these out.
_GUEST_DEFAULTS = {name: GUEST[name].default for name in _DETAIL if GUEST[name].default is not None}
# The service derives the permissions in single reads from these, so our changes make stored permissions invalid.
_RIGHTS_FIELD_OF = {AREAS.name: AREAS.rights_field, KEYS.name: KEYS.rights_field}
_GUEST_COLUMNS = [
    field.attname for field in Guest._meta.concrete_fields if field.attname not in ("id", "tenant_id", "guest_id")
]


def apply_guest_write(tenant: Tenant, guest_id: str, fields: Mapping[str, Any], *, created: bool = False) -> None:
    """Store our successful creation or update of a guest.

    `fields` is the body that was sent (operation 20 with `created`, else 22). Values that the service chooses (the code
    that it e-mails) are unknown until a single read. Call this inside the transaction that records the outcome.
    """
    said = {**fields, **_issuing_values(fields)}
    with tenant_scope(tenant), transaction.atomic():
        now, row = database_now(), _lock_guest(tenant, guest_id)
        fresh = row.pk is None or row.gone_at is not None
        before = row.use_date_end
        GuestRowBuilder(tenant.pk).apply(row, said)
        detail = dict(_GUEST_DEFAULTS) if created else dict(row.detail or {})
        if _RIGHTS_FIELD_OF.keys() & said.keys():
            detail = {name: value for name, value in detail.items() if name not in _RIGHTS_FIELD_OF.values()}
        detail |= {name: said[name] for name in _DETAIL if name in said}
        row.key_return_date_end = _return_end(row, detail, before)
        row.detail = detail or None
        if created:
            row.detail_read_at = now
            row.is_for_reserve = bool(said.get("is_for_reserve"))
        _save_guest(row, now)
        adjust_total(MirrorKind.GUESTS, int(fresh))


def apply_guest_gone(tenant: Tenant, guest_id: str) -> None:
    """Mark a guest that the service does not know (404) as gone. A complete list without the guest deletes the row."""
    with tenant_scope(tenant), transaction.atomic():
        mark_gone(Guest.objects.filter(guest_id=guest_id), MirrorKind.GUESTS)


def apply_guest_read(tenant: Tenant, item: Mapping[str, Any], asked_at: datetime) -> None:
    """Store a single read of a guest (operation 21). `asked_at`: when it was requested, by the database's clock."""
    with tenant_scope(tenant), transaction.atomic():
        row = _lock_guest(tenant, str(item["guest_id"]))
        if row.first_hand_at is not None and row.first_hand_at > asked_at:
            return  # our own write was recorded after the request
        reader = GuestRowBuilder(tenant.pk)
        fresh = row.pk is None or row.gone_at is not None
        reader.apply(row, {name: item.get(name) for name in GUEST.columns_of})
        row.extra = {**row.extra, **reader.values(item)["extra"]}
        row.detail = _detail(row, item)
        row.detail_read_at = asked_at
        _save_guest(row, asked_at)
        adjust_total(MirrorKind.GUESTS, int(fresh))


def _issuing_values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values inside `qrcode_issuing_method`: { email, remarks } or { qrcode_data }."""
    method = fields.get("qrcode_issuing_method")
    return dict(method) if isinstance(method, Mapping) else {}


def _lock_guest(tenant: Tenant, guest_id: str) -> Guest:
    row = Guest.objects.select_for_update().filter(guest_id=guest_id).first()
    return row or Guest(tenant=tenant, guest_id=guest_id, guest_name="", name_key="")


def _return_end(row: Guest, detail: Mapping[str, Any], before: datetime | None) -> datetime | None:
    """Return the end of use plus the grace period, as the service calculates it; None while either is unknown."""
    grace = detail.get(GRACE.name)
    if isinstance(grace, int) and row.use_date_end is not None:
        return row.use_date_end + timedelta(minutes=grace)
    if row.key_return_date_end is None or before is None or row.use_date_end is None:
        return None
    return row.use_date_end + (row.key_return_date_end - before)


def _detail(row: Guest, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the written values from a single read that have no columns, derived from permissions where needed."""
    known = values_from_read({**item, END.name: row.use_date_end, KEYS_RETURN_END.name: row.key_return_date_end})
    return {name: known[name] for name in _DETAIL}


def _save_guest(row: Guest, at: datetime) -> None:
    row.first_hand_at, row.gone_at, row.digest = at, None, None
    Guest.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["tenant", "guest_id"], update_fields=_GUEST_COLUMNS
    )


def mark_gone(rows: QuerySet[Any], kind: MirrorKind) -> None:
    """Mark rows that the service no longer has as gone. A complete list without them deletes them."""
    now = database_now()
    gone = rows.filter(gone_at__isnull=True).update(gone_at=now, first_hand_at=now, digest=None)
    rows.update(first_hand_at=now)
    adjust_total(kind, -gone)


def adjust_total(kind: MirrorKind, more: int) -> None:
    """Add `more` to the stored total of a kind."""
    if more:
        MirrorState.objects.filter(kind=kind).update(total=F("total") + more)
