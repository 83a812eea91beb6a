"""Find the results of bulk requests: in the service's answer or, where it was lost, by reading.

The handlers of intents read the rows' current state, so a repeated call changes nothing.

Where an answer was lost, or a request failed half-way, the mirror's reading of the whole list is used: ceil(members /
1000) calls, at the pace of sync, shared by all that wait. A created member is recognised by everything that was sent
and that the list shows: name, code, group and card. It counts only if the mirror did not know it before. A member
missing from the list was not created if the request has ended at the service, or if two readings a minute apart agree.
This is safe because the service works through bulk requests in order. A person decides all unclear cases.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import connection as database
from django.db import transaction
from django.db.models import Q, QuerySet

from accessapi.resources import BulkItem, RequestRecord
from portal.base.timers.clock import ClockTime
from portal.domain.events import MirrorKind
from portal.domain.intents import handlers
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.transitions import without_secrets
from portal.domain.jobs import kinds, running
from portal.domain.jobs.models import Action, Halt, Job, Part, PartState, Row, RowState
from portal.domain.people.member_fields import MEMBER, RIGHTS_NAMES
from portal.domain.people.models import Member
from portal.domain.people.row_building import MemberRowBuilder
from portal.domain.people.text_folding import fold, stored_forms
from portal.domain.sync import local_writes, schedule
from tenants.models import current_tenant
from tenants.scope import current_tenant_id

MAX_ROW_ATTEMPTS = 3
RESET_TO_PENDING: dict[str, Any] = {"state": RowState.PENDING, "part": None, "position": None, "read_at": None}
# A deletion of a member that no longer exists counts as done.
_NOT_FOUND_PREFIX = "404"
_POSITION = re.compile(r"members\.(\d+)\b")

_UPDATE = """
UPDATE jobs_row r SET state = new.state, code = new.code, detail = new.detail, member_id = new.member_id
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[]) AS new (id, state, code, detail, member_id)
WHERE r.tenant_id = %s AND r.id = new.id AND r.state = %s
"""


def lock_part(intent: Intent) -> tuple[Job, Part] | None:
    """Return the job and the part of an intent, with the job's row locked; None for intents of other areas."""
    part = Part.objects.filter(intent_id=intent.pk).first()
    if part is None:
        return None
    job = Job.objects.select_for_update(of=("self",)).get(pk=part.job_id)
    part.refresh_from_db()
    return job, part


def on_progress(intent: Intent, record: RequestRecord) -> None:
    """Store the results of the members finished so far: the n-th result is the n-th member's."""
    with transaction.atomic():
        held = lock_part(intent)
        if held is None or record.result is None:
            return
        job, part = held
        items = record.result.members
        rows = Row.objects.filter(part=part, state=RowState.SENT, position__lt=len(items)).order_by("position")
        row_results = [_row_result(row, items[row.position]) for row in rows if row.position is not None]
        results = [each for each in row_results if each is not None]
        _write_results(job, results)
        fresh = [(member_id, row.content.get("body", {})) for row, state, _code, _detail, member_id in results
                 if state == RowState.SUCCEEDED and member_id]  # fmt: skip
        if part.action == Action.DELETE:
            local_writes.apply_member_deletions(intent.tenant, [member_id for member_id, _body in fresh])
        else:
            local_writes.apply_member_writes(intent.tenant, fresh, created=part.action == Action.CREATE)


RowResult = tuple[Row, RowState, str, str, str]


def _row_result(row: Row, item: BulkItem) -> RowResult | None:
    """Return the result in an item, or None when it is not reliable."""
    if row.member_id and item.member_id not in (None, "", row.member_id):
        return None  # the ID of another row: the order is not that of the request
    member_id = item.member_id or row.member_id
    if item.status == "succeeded":
        return row, RowState.SUCCEEDED, "", "", member_id
    if item.status != "failed":
        return None
    code = str(item.error.error_code or "") if item.error else ""
    if row.action == Action.DELETE and code.startswith(_NOT_FOUND_PREFIX):
        return row, RowState.SUCCEEDED, "", "", row.member_id
    detail = str(item.error.error_detail or "") if item.error else ""
    return row, RowState.FAILED, code[:20], without_secrets(detail[:2000], row.content.get("body", {})), row.member_id


def _write_results(job: Job, results: Iterable[RowResult]) -> None:
    values = [(row.pk, str(state), code, detail, member_id) for row, state, code, detail, member_id in results]
    if values:
        columns = [list(column) for column in zip(*values, strict=True)]
        with database.cursor() as cursor:
            cursor.execute(_UPDATE, [*columns, job.tenant_id, str(RowState.SENT)])


def on_finished(intent: Intent) -> None:
    """Settle the part of an intent that has ended, and notify a worker of the next one after the commit."""
    with transaction.atomic():
        held = lock_part(intent)
        if held is None:
            return
        settle_part(*held, intent)
        running.wake_after_commit(held[0])


def settle_part(job: Job, part: Part, intent: Intent) -> None:
    """Settle the rows without a result by the end of the intent. The caller has locked the job's row."""
    if intent.reason == Reason.DECIDED:
        _apply_decision(part, applied=intent.state == State.SUCCEEDED)
        return close_part(part)
    if part.state != PartState.OPEN:
        return None
    if not _unsettled(part).exists():
        return close_part(part)
    if intent.state == State.SUCCEEDED or intent.reason == Reason.REQUEST_FAILED:
        return _mark_lost(part, ended=True)
    if intent.state == State.UNCERTAIN:
        return _mark_lost(part, ended=False)
    _handle_not_applied(job, part, intent)
    return close_part(part)


def _unsettled(part: Part) -> QuerySet[Row]:
    return Row.objects.filter(part=part, state=RowState.SENT)


def close_part(part: Part) -> None:
    """Mark a part as settled."""
    part.state = PartState.CLOSED
    part.save(update_fields=["state"])


def _mark_lost(part: Part, *, ended: bool) -> None:
    """Mark a part whose rows have no known result: the list will be read."""
    part.state, part.ended = PartState.READING, ended
    part.save(update_fields=["state", "ended"])
    Part.objects.filter(pk=part.pk).update(lost_at=ClockTime())


def _apply_decision(part: Part, *, applied: bool) -> None:
    rows = Row.objects.filter(part=part, state__in=[RowState.SENT, RowState.UNCERTAIN])
    word = "decided_yes" if applied else "decided_no"
    rows.update(state=RowState.SUCCEEDED if applied else RowState.FAILED, problems=[["", word, {}]])


def _handle_not_applied(job: Job, part: Part, intent: Intent) -> None:
    """Handle a request that did nothing: send it in halves, send it later, or fail the rows."""
    too_large = intent.http_status == 413 or (intent.reason == Reason.INVALID and "4 MB" in intent.error_detail)
    if too_large and part.rows > 1:
        _return_to_pending(part)
        Job.objects.filter(pk=job.pk).update(part_rows=-(-part.rows // 2), part_bytes=max(job.part_bytes // 2, 1))
    elif intent.http_status == 429:
        _return_to_pending(part)
    elif halt := _halt_reason(intent):
        _return_to_pending(part)
        running.stop_job(job, halt)
    else:
        _mark_refused(part, intent)


def _halt_reason(intent: Intent) -> Halt | None:
    """Return why the job has to stop, if the end of the intent requires it."""
    if intent.http_status in (401, 403) or intent.reason in (Reason.CONNECTION, Reason.LICENCE):
        return Halt.CONNECTION
    if intent.reason == Reason.RIGHTS:
        return Halt.RIGHTS
    if intent.reason == Reason.STOPPED:
        return Halt.PERSON
    unsent = intent.reason == Reason.NOT_SENT or intent.state in (State.EXPIRED, State.CANCELLED)
    return Halt.UNREACHABLE if unsent else None


def _return_to_pending(part: Part) -> None:
    _unsettled(part).update(**RESET_TO_PENDING)


def _mark_refused(part: Part, intent: Intent) -> None:
    """Fail the rows of a refused request. If the reason names members, only those fail; the others are sent again."""
    named_positions = {int(place) for place in _POSITION.findall(intent.error_detail)}
    rows = _unsettled(part)
    if named_positions and rows.filter(position__in=named_positions).exists() and part.rows > len(named_positions):
        rows.exclude(position__in=named_positions).update(**RESET_TO_PENDING)
        rows = _unsettled(part)
    rows.update(
        state=RowState.FAILED,
        code=intent.error_code[:20],
        detail=intent.error_detail[:2000],
        problems=[["", "whole_request", {"status": intent.http_status or 0}]],
    )


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
    rows_by_signature: dict[Signature, list[Row]] = defaultdict(list)
    for row in rows:
        rows_by_signature[_row_signature(row, reader)].append(row)
    codes = {member.member_code for member in fresh if member.member_code}
    cards = {bytes(member.card_fingerprint) for member in fresh if member.card_fingerprint}
    names = {fold(member.member_name) for member in fresh}
    for signature, alikes in rows_by_signature.items():
        members = by_signature.get(signature, [])
        name, code, _group, card = signature
        alike = (code and code in codes) or (card and card in cards) or (not code and not card and name in names)
        if len(members) == len(alikes):
            found.present.update(zip((row.pk for row in alikes), members, strict=True))
        elif members or alike:
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
        is_applied = None if member is None else shows(row, member) if shows is not None else _is_applied(row, member)
        if is_applied:
            found.present[row.pk] = row.member_id
        elif (row.content["body"].get("qrcode") or {}).get("email"):
            found.unclear.append(row.pk)
        elif is_applied is None and member is not None:
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
    members = Member.objects.filter(member_id__in=[row.member_id for row in rows], gone_at__isnull=True)
    left = set(members.values_list("member_id", flat=True))
    return RowFindings(
        present={row.pk: row.member_id for row in rows if row.member_id not in left},
        absent=[row.pk for row in rows if row.member_id in left],
    )


def _similar_members(rows: Sequence[Row]) -> list[Member]:
    """Return members with the code, the card or the name of one of the rows."""
    reader = MemberRowBuilder(current_tenant_id())
    bodies = [row.content["body"] for row in rows]
    codes = {form for body in bodies if body.get("member_code") for form in stored_forms(body["member_code"])}
    cards = {reader.card_fingerprint(body["card_data"]) for body in bodies if body.get("card_data")}
    names = {form for body in bodies for form in stored_forms(body["member_name"])}
    columns = ("id", "tenant_id", "member_id", "member_name", "member_code", "membergroup_id", "card_fingerprint")
    alike: dict[int, Member] = {}
    for condition in (Q(code_key__in=codes), Q(has_card=True, card_fingerprint__in=cards), Q(name_key__in=names)):
        for member in Member.objects.filter(condition, gone_at__isnull=True).only(*columns):
            alike[member.pk] = member
    return list(alike.values())


def _member_signature(member: Member) -> Signature:
    return fold(member.member_name), member.member_code, member.membergroup_id, bytes(member.card_fingerprint or b"")


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
    as_of = schedule.request_reading_since(current_tenant(), MirrorKind.MEMBERS, _list_needed_since(part))
    if as_of is None:
        return False
    rows = list(Row.objects.filter(part=part, state=RowState.SENT).order_by("position"))
    found = _compare(job, part, rows)
    agrees = part.seen == len(found.present) and handlers.proves_absence(part.read_until, as_of)
    part.readings, part.read_until, part.seen = part.readings + 1, as_of, len(found.present)
    part.save(update_fields=["readings", "read_until", "seen"])
    is_complete = len(found.present) == len(rows)
    if not (is_complete or part.ended or part.action != Action.CREATE or agrees):
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
        return part.read_until + handlers.MIN_ABSENCE_INTERVAL
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
