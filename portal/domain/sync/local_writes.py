"""Store our own successful writes and single reads of members, groups and guests in the mirror.

They win over a list whose reading began earlier. Called by the code that records the outcome of an intent, inside the
same transaction.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, F, QuerySet

from portal.base.timers.clock import database_now
from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.people import row_building
from portal.domain.people.guest_fields import AREAS, END, GRACE, GUEST, KEYS, KEYS_RETURN_END, values_from_read
from portal.domain.people.member_fields import CARD, DOORS_AND_KEYS, MEMBER, QR, RIGHTS_NAMES
from portal.domain.people.models import Group, Guest, Member, MemberSearch, RightsChange
from portal.domain.people.row_building import GuestRowBuilder, MemberRowBuilder
from portal.domain.people.text_folding import fold
from portal.domain.sync.models import MirrorState
from portal.domain.sync.small_lists import update_group_names
from tenants.models import Tenant, current_tenant
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
    values = {**fields, **_issuing_values(fields)}
    with tenant_scope(tenant), transaction.atomic():
        now, row = database_now(), _lock_guest(tenant, guest_id)
        fresh = row.pk is None or row.gone_at is not None
        before = row.use_date_end
        GuestRowBuilder(tenant.pk).apply(row, values)
        detail = dict(_GUEST_DEFAULTS) if created else dict(row.detail or {})
        if _RIGHTS_FIELD_OF.keys() & values.keys():
            detail = {name: value for name, value in detail.items() if name not in _RIGHTS_FIELD_OF.values()}
        detail |= {name: values[name] for name in _DETAIL if name in values}
        row.key_return_date_end = _return_end(row, detail, before)
        row.detail = detail or None
        if created:
            row.detail_read_at = now
            row.is_for_reserve = bool(values.get("is_for_reserve"))
        _save_guest(row, now)
        adjust_total(MirrorKind.GUESTS, int(fresh))


def apply_guest_gone(tenant: Tenant, guest_id: str) -> None:
    """Mark a guest that the service does not know (404) as gone. A complete list without the guest deletes the row."""
    with tenant_scope(tenant), transaction.atomic():
        mark_gone(Guest.objects.filter(guest_id=guest_id), MirrorKind.GUESTS)


def apply_guest_read(tenant: Tenant, item: Mapping[str, Any], requested_at: datetime) -> None:
    """Store a single read of a guest (operation 21). `requested_at`: when it was requested, by the database's clock."""
    with tenant_scope(tenant), transaction.atomic():
        row = _lock_guest(tenant, str(item["guest_id"]))
        if row.first_hand_at is not None and row.first_hand_at > requested_at:
            return  # our own write was recorded after the request
        reader = GuestRowBuilder(tenant.pk)
        fresh = row.pk is None or row.gone_at is not None
        reader.apply(row, {name: item.get(name) for name in GUEST.columns_of})
        row.extra = {**row.extra, **reader.values(item)["extra"]}
        row.detail = _detail(row, item)
        row.detail_read_at = requested_at
        _save_guest(row, requested_at)
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


# Changes of access rights are kept as long as log records.
_RETENTION = timedelta(days=400)
# The service's values after a creation that leaves these out.
_DEFAULTS = {name: MEMBER[name].default for name in RIGHTS_NAMES}
# Columns that other code maintains: the log's reader, and the check for shared cards.
_OTHERS_COLUMNS = {"last_seen_at", "shares_card"}
_WRITTEN = [
    field.attname
    for field in Member._meta.concrete_fields
    if field.attname not in {"id", "tenant_id", "member_id"} | _OTHERS_COLUMNS
]


def apply_member_write(tenant: Tenant, member_id: str, fields: Mapping[str, Any], *, created: bool = False) -> None:
    """Store our successful creation or update of a member.

    `fields` is the body that was sent (names and values of the specification; omitted keys keep their values, null
    clears). A registered or deleted face is `{"face_data": True}` or `{"face_data": None}`.
    """
    apply_member_writes(tenant, [(member_id, fields)], created=created)


def apply_member_writes(
    tenant: Tenant, written: Iterable[tuple[str, Mapping[str, Any]]], *, created: bool = False
) -> None:
    """Store our successful creations or updates of many members (from a bulk request), with few queries."""
    bodies: dict[str, dict[str, Any]] = {}
    for member_id, fields in written:
        bodies[member_id] = {**bodies.get(member_id, {}), **fields}
    if not bodies:
        return
    with tenant_scope(tenant), transaction.atomic():
        reader, now = MemberRowBuilder(tenant.pk), database_now()
        known = _lock_members(bodies)
        names = _group_names(bodies.values())
        rows = []
        for member_id in sorted(bodies):
            row = known.get(member_id) or Member(tenant=tenant, member_id=member_id, name_key="")
            if bodies[member_id].get("membergroup_id"):
                group_id = str(bodies[member_id]["membergroup_id"])
                bodies[member_id].setdefault("membergroup_name", names.get(group_id, ""))
            reader.apply(row, bodies[member_id])
            _apply_rights(row, bodies[member_id], now, created=created)
            row.first_hand_at, row.gone_at, row.digest = now, None, None
            rows.append(row)
        _save_members(rows, reader)
        adjust_total(MirrorKind.MEMBERS, len(bodies) - len(known))


def apply_member_deletion(tenant: Tenant, member_id: str) -> None:
    """Mark a member that the service deleted or does not know (404) as gone."""
    apply_member_deletions(tenant, [member_id])


def apply_member_deletions(tenant: Tenant, member_ids: Sequence[str]) -> None:
    """Mark many members as gone. A complete list without them deletes the rows."""
    with tenant_scope(tenant), transaction.atomic():
        mark_gone(Member.objects.filter(member_id__in=member_ids), MirrorKind.MEMBERS)


def apply_member_read(tenant: Tenant, item: Mapping[str, Any], requested_at: datetime) -> None:
    """Store a single read of a member (operation 5). `requested_at`: when it was requested, by the database's clock."""
    member_id = str(item["member_id"])
    with tenant_scope(tenant), transaction.atomic():
        known = _lock_members([member_id])
        row = known.get(member_id) or Member(tenant=tenant, member_id=member_id, name_key="")
        if row.first_hand_at is not None and row.first_hand_at > requested_at:
            return  # our own write was recorded after the request
        reader = MemberRowBuilder(tenant.pk)
        before = _listed_values(row)
        full = {name: item.get(name) for name in MEMBER.columns_of if name != "membergroup_name"}
        group_name = item.get("membergroup_name") or _group_names([full]).get(str(full["membergroup_id"]))
        if group_name is not None:
            full["membergroup_name"] = group_name
        reader.apply(row, full)
        row.extra = {**row.extra, **reader.values(item)["extra"]}
        rights = {name: item.get(name) for name in RIGHTS_NAMES}
        _save_rights_change(row, rights, requested_at)
        row.rights = rights
        row.rights_read_at = row.first_hand_at = requested_at
        if row.gone_at is not None or _listed_values(row) != before:
            row.digest = None
        adjust_total(MirrorKind.MEMBERS, int(row.pk is None or row.gone_at is not None))
        row.gone_at = None
        _save_members([row], reader)


def apply_group_write(tenant: Tenant, membergroup_id: str, membergroup_name: str) -> None:
    """Store our successful creation or renaming of a group, also in the rows of its members."""
    with tenant_scope(tenant), transaction.atomic():
        now = database_now()
        values = {
            "membergroup_name": membergroup_name,
            "name_key": fold(membergroup_name),
            "first_hand_at": now,
        }
        group, created = Group.objects.update_or_create(
            membergroup_id=membergroup_id, defaults=values, create_defaults={**values, "member_count": 0}
        )
        if created:
            adjust_total(MirrorKind.GROUPS, 1)
        else:
            update_group_names([group])


def _lock_members(member_ids: Iterable[str]) -> dict[str, Member]:
    rows = Member.objects.filter(member_id__in=list(member_ids)).order_by("member_id").select_for_update()
    return {row.member_id: row for row in rows}


def _group_names(bodies: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    group_ids = {str(body["membergroup_id"]) for body in bodies if body.get("membergroup_id")}
    rows = Group.objects.filter(membergroup_id__in=group_ids)
    return dict(rows.values_list("membergroup_id", "membergroup_name")) if group_ids else {}


def _apply_rights(row: Member, fields: Mapping[str, Any], now: datetime, *, created: bool) -> None:
    rights = {name: fields[name] for name in RIGHTS_NAMES if name in fields}
    if created:
        row.rights, row.rights_read_at = {**_DEFAULTS, **rights}, now
    elif rights and row.rights is not None:
        row.rights = {**row.rights, **rights}


def _save_rights_change(member: Member, rights: Mapping[str, Any], requested_at: datetime) -> None:
    """Save the old and new access rights of a member if they differ, and delete old changes.

    Our own writes update the mirror, so a difference was made elsewhere, for example in the member site.
    """
    known = member.rights
    if known is None or all(each.is_same(known.get(each.name), rights.get(each.name)) for each in DOORS_AND_KEYS):
        return
    mine = RightsChange.objects.filter(member_id=member.member_id)
    mine.filter(read_at__lt=requested_at - _RETENTION).delete()
    RightsChange.objects.create(
        tenant_id=member.tenant_id,
        member_id=member.member_id,
        since=member.rights_read_at,
        read_at=requested_at,
        before={each.name: known.get(each.name) for each in DOORS_AND_KEYS},
        after={each.name: rights.get(each.name) for each in DOORS_AND_KEYS},
    )


def _listed_values(row: Member) -> list[Any]:
    """Return the stored values that lists contain, to check whether a single read changed them."""
    values = [getattr(row, name) for name in MEMBER.listed_columns if name not in (CARD.name, QR.name)]
    return [bytes(value) if isinstance(value, memoryview) else value for value in values]


def _save_members(rows: Sequence[Member], reader: MemberRowBuilder) -> None:
    """Save members and their search entries. Call the listeners of RIGHTS with those whose permissions are known."""
    unknown = {row.member_id: row for row in rows if row.pk is None}
    for member_id, at in row_building.last_seen_of(unknown).items():
        unknown[member_id].last_seen_at = at
    Member.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["tenant", "member_id"],
        update_fields=_WRITTEN,
        batch_size=500,
    )
    ids = dict(Member.objects.filter(member_id__in=[row.member_id for row in rows]).values_list("member_id", "id"))
    MemberSearch.objects.bulk_create(
        [
            MemberSearch(
                member_id=ids[row.member_id],
                tenant_id=row.tenant_id,
                pieces=reader.pieces(row.name_key, row.code_key),
            )
            for row in rows
        ],
        update_conflicts=True,
        unique_fields=["member"],
        update_fields=["pieces"],
        batch_size=500,
    )
    _mark_shared({bytes(row.card_fingerprint) for row in rows if row.card_fingerprint is not None})
    if events.has_subscribers(MirrorKind.RIGHTS):
        for row in rows:
            row.pk = ids[row.member_id]
        members = [row for row in rows if row.rights is not None]
        if members:
            events.publish(MirrorKind.RIGHTS, current_tenant(), members=members)


def _mark_shared(cards: Collection[bytes]) -> None:
    """Mark the members who share one of these cards with another member."""
    holders = Member.objects.filter(has_card=True, gone_at__isnull=True, card_fingerprint__in=cards)
    several = holders.order_by().values("card_fingerprint").annotate(holders=Count("pk")).filter(holders__gt=1)
    holders.filter(shares_card=False, card_fingerprint__in=several.values("card_fingerprint")).update(shares_card=True)
