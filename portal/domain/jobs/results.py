"""Apply the service's results to rows, and the end of a request to rows without a result.

Registered with `intents.handlers`. All functions read the rows' current state, so a repeated call changes nothing.
"""

import re
from collections.abc import Iterable
from typing import Any

from django.db import connection as database
from django.db import transaction
from django.db.models import QuerySet

from accessapi.resources import BulkItem, RequestRecord
from portal.base.timers.clock import ClockTime
from portal.domain.intents.applying import without_secrets
from portal.domain.intents.models import Intent
from portal.domain.intents.states import Reason, State
from portal.domain.jobs import wakeups
from portal.domain.jobs.models import Job, Part, Row
from portal.domain.jobs.states import Action, Halt, PartState, RowState
from portal.domain.mirror import local_writes

MAX_ROW_ATTEMPTS = 3
RESET_TO_PENDING: dict[str, Any] = {"state": RowState.PENDING, "part": None, "position": None, "read_at": None}
# A deletion of a member that no longer exists counts as done.
_NOT_FOUND_PREFIX = "404"
_POSITION = re.compile(r"members\.(\d+)\b")

_UPDATE = """
UPDATE bulk_row r SET state = new.state, code = new.code, detail = new.detail, member_id = new.member_id
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
        told = [_row_result(row, items[row.position]) for row in rows if row.position is not None]
        results = [each for each in told if each is not None]
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
        wakeups.wake_after_commit(held[0])


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
        wakeups.stop_job(job, halt)
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
    blamed = {int(place) for place in _POSITION.findall(intent.error_detail)}
    rows = _unsettled(part)
    if blamed and rows.filter(position__in=blamed).exists() and part.rows > len(blamed):
        rows.exclude(position__in=blamed).update(**RESET_TO_PENDING)
        rows = _unsettled(part)
    rows.update(
        state=RowState.FAILED,
        code=intent.error_code[:20],
        detail=intent.error_detail[:2000],
        problems=[["", "whole_request", {"status": intent.http_status or 0}]],
    )
