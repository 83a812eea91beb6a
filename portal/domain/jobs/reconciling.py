"""Find out by reading what a request has done whose answer was lost, or that failed half-way.

It uses the mirror's reading of the whole list: ceil(members / 1000) calls, at the pace of sync, shared by all that
wait. A created member is recognised by everything that was sent and that the list shows: name, code, group and card. It
counts only if the mirror did not know it before. A member missing from the list was not created if the request has
ended at the service, or if two readings a minute apart agree. This is safe because the service works through bulk
requests in order. A person decides all unclear cases.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from portal.domain.intents import absence_proofs
from portal.domain.jobs import kinds
from portal.domain.jobs.models import Job, Part, Row
from portal.domain.jobs.results import MAX_ROW_ATTEMPTS, RESET_TO_PENDING, close_part
from portal.domain.jobs.states import Action, RowState
from portal.domain.mirror import sync_schedule
from portal.domain.mirror.fields.members import MEMBER, RIGHTS_NAMES
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import Member
from portal.domain.mirror.row_building import MemberRowBuilder
from portal.domain.mirror.text_folding import fold
from tenants.models import current_tenant
from tenants.scope import current_tenant_id

Signature = tuple[str, str, str, bytes]


@dataclass
class RowFindings:
    """Rows by what the list proves: present (with the member's ID), absent, or unclear.

    `hidden`: rows whose values are not shown by any list.
    """

    present: dict[int, str] = field(default_factory=dict)
    absent: list[int] = field(default_factory=list)
    unclear: list[int] = field(default_factory=list)
    hidden: list[int] = field(default_factory=list)


def take_snapshot(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the IDs of known members that could later be confused with one of these new members."""
    return {"known": sorted(member.member_id for member in _similar_members(rows))}


def find_created(rows: Sequence[Row], known: Iterable[str]) -> RowFindings:
    """Return which of the new members exist. `known`: IDs of the snapshot and of other rows' members."""
    before, reader, found = set(known), MemberRowBuilder(current_tenant_id()), RowFindings()
    fresh = [member for member in _similar_members(rows) if member.member_id not in before]
    by_signature: dict[Signature, list[str]] = defaultdict(list)
    for member in sorted(fresh, key=lambda each: each.pk):
        by_signature[_member_signature(member)].append(member.member_id)
    wanted: dict[Signature, list[Row]] = defaultdict(list)
    for row in rows:
        wanted[_row_signature(row, reader)].append(row)
    codes = {member.member_code for member in fresh if member.member_code}
    cards = {bytes(member.card_fingerprint) for member in fresh if member.card_fingerprint}
    names = {member.name_key for member in fresh}
    for signature, alikes in wanted.items():
        there = by_signature.get(signature, [])
        name, code, _group, card = signature
        alike = (code and code in codes) or (card and card in cards) or (not code and not card and name in names)
        if len(there) == len(alikes):
            found.present.update(zip((row.pk for row in alikes), there, strict=True))
        elif there or alike:
            found.unclear += [row.pk for row in alikes]
        else:
            found.absent += [row.pk for row in alikes]
    return found


IsApplied = Callable[[Row, Member], bool | None]


def find_changed(rows: Sequence[Row], shows: IsApplied | None = None) -> RowFindings:
    """Return which changes were applied. A change may be sent again, unless it would e-mail a QR code again."""
    members = {m.member_id: m for m in Member.objects.filter(member_id__in=[row.member_id for row in rows])}
    found = RowFindings()
    for row in rows:
        member = members.get(row.member_id)
        there = None if member is None else shows(row, member) if shows is not None else _is_applied(row, member)
        if there:
            found.present[row.pk] = row.member_id
        elif (row.content["body"].get("qrcode") or {}).get("email"):
            found.unclear.append(row.pk)
        elif there is None and member is not None:
            found.hidden.append(row.pk)
        else:
            found.absent.append(row.pk)
    return found


def _is_applied(row: Row, member: Member) -> bool | None:
    """Return whether the member has all values of the row; None if some of them are not shown in lists."""
    body, present = row.content["body"], MEMBER.written_values(member)
    listed = all(MEMBER.is_same(name, value, present[name]) for name, value in body.items() if name not in RIGHTS_NAMES)
    return None if listed and body.keys() & set(RIGHTS_NAMES) else listed


def find_deleted(rows: Sequence[Row]) -> RowFindings:
    """Return which of the members no longer exist."""
    there = Member.objects.filter(member_id__in=[row.member_id for row in rows], gone_at__isnull=True)
    left = set(there.values_list("member_id", flat=True))
    return RowFindings(
        present={row.pk: row.member_id for row in rows if row.member_id not in left},
        absent=[row.pk for row in rows if row.member_id in left],
    )


def _similar_members(rows: Sequence[Row]) -> list[Member]:
    """Return members with the code, the card or the name of one of the rows."""
    reader = MemberRowBuilder(current_tenant_id())
    bodies = [row.content["body"] for row in rows]
    codes = {fold(body["member_code"]) for body in bodies if body.get("member_code")}
    cards = {reader.card_fingerprint(body["card_data"]) for body in bodies if body.get("card_data")}
    names = {fold(body["member_name"]) for body in bodies}
    columns = ("id", "tenant_id", "member_id", "name_key", "member_code", "membergroup_id", "card_fingerprint")
    alike: dict[int, Member] = {}
    for wanted in (Q(code_key__in=codes), Q(has_card=True, card_fingerprint__in=cards), Q(name_key__in=names)):
        for member in Member.objects.filter(wanted, gone_at__isnull=True).only(*columns):
            alike[member.pk] = member
    return list(alike.values())


def _member_signature(member: Member) -> Signature:
    return member.name_key, member.member_code, member.membergroup_id, bytes(member.card_fingerprint or b"")


def _row_signature(row: Row, reader: MemberRowBuilder) -> Signature:
    body = row.content["body"]
    card = body.get("card_data")
    return (
        fold(body["member_name"]),
        body.get("member_code", ""),
        body["membergroup_id"],
        reader.card_fingerprint(card) if card else b"",
    )


# The shortest time from the loss to the start of the first reading.
MIN_DELAY = timedelta(seconds=5)


def reconcile_part(job: Job, part: Part) -> bool:
    """Compare the part with the last complete list if it is new enough. Return whether the part is settled."""
    as_of = sync_schedule.request_reading_since(current_tenant(), MirrorKind.MEMBERS, _list_needed_since(part))
    if as_of is None:
        return False
    rows = list(Row.objects.filter(part=part, state=RowState.SENT).order_by("position"))
    found = _compare(job, part, rows)
    agrees = part.seen == len(found.present) and absence_proofs.proves_absence(part.read_until, as_of)
    part.readings, part.read_until, part.seen = part.readings + 1, as_of, len(found.present)
    part.save(update_fields=["readings", "read_until", "seen"])
    all_there = len(found.present) == len(rows)
    if not (all_there or part.ended or part.action != Action.CREATE or agrees):
        return False
    _record_findings(part, found, as_of)
    close_part(part)
    return True


def _compare(job: Job, part: Part, rows: list[Row]) -> RowFindings:
    if part.action == Action.CREATE:
        return find_created(rows, _excluded_members(job, part))
    return find_deleted(rows) if part.action == Action.DELETE else find_changed(rows, kinds.kind_of(job).is_applied)


def _list_needed_since(part: Part) -> datetime:
    """Return the earliest start of a list reading that is useful."""
    if part.read_until is not None:
        return part.read_until + absence_proofs.MIN_ABSENCE_INTERVAL
    lost_at = part.lost_at
    if lost_at is None:  # `_mark_lost` always sets this time
        raise ValueError("the part was not lost")
    return lost_at + MIN_DELAY


def _excluded_members(job: Job, part: Part) -> set[str]:
    """Return members that this part cannot have created: they existed before, or belong to another row."""
    before = (part.intent.snapshot or {}).get("known", []) if part.intent else []
    others = Row.objects.filter(state=RowState.SUCCEEDED, action=Action.CREATE, part__isnull=False)
    recent = others.filter(job__started_at__gte=job.started_at - timedelta(days=1)) if job.started_at else others
    return {*before, *recent.exclude(member_id="").values_list("member_id", flat=True)}


def _record_findings(part: Part, found: RowFindings, as_of: datetime) -> None:
    facts = {"at": as_of.isoformat(timespec="seconds"), "readings": part.readings}
    rows = Row.objects.filter(part=part, state=RowState.SENT)
    present = list(rows.filter(pk__in=found.present))
    for row in present:
        row.member_id, row.state = found.present[row.pk], RowState.SUCCEEDED
        row.problems = [["", "found", facts]]
    Row.objects.bulk_update(present, ["member_id", "state", "problems"], batch_size=500)
    rows.filter(pk__in=found.unclear).update(state=RowState.UNCERTAIN, problems=[["", "unclear", facts]])
    if part.action != Action.CREATE:  # changes and deletions may be repeated: the result is the same
        again = rows.filter(pk__in=[*found.absent, *found.hidden], attempts__lt=MAX_ROW_ATTEMPTS)
        again.update(**RESET_TO_PENDING)
    rows.filter(pk__in=found.hidden).update(state=RowState.UNCERTAIN, problems=[["", "hidden", facts]])
    rows.filter(pk__in=found.absent).update(state=RowState.FAILED, problems=[["", "absent", facts]])
