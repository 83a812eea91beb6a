"""Executor for bulk requests of at most 1,000 members and 4 MB, one after another, each sent once.

Just before sending, rows are compared with the mirror. Part, rows and intent are written in one transaction. The
intent's nonce is built from the job and the part's number, so a repetition never creates a second intent for a part.

Data that lists do not show, above all rights, is read before: one member at a time, outside of transactions, under a
lease on the job. This may end at any moment: results are stored in the mirror, and the row is marked as read. Rows are
sent before their readings are too old, even if API calls are short, so that every job ends.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import structlog
from django.db import transaction
from django.db.models import F, Max, Q, QuerySet

from accessapi import errors
from accessapi.encoding import encode_json
from accessapi.operations import Delivery
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.budget.ledger import BudgetExhausted
from portal.domain.budget.priorities import Priority
from portal.domain.intents.actions import Requester, submit
from portal.domain.intents.models import FINAL, UNDER_WAY, Intent, target_of
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Command
from portal.domain.jobs import kinds, results, running
from portal.domain.jobs.kinds import AlreadyApplied, LeaveUnchanged, RowDecision, Send, Skip
from portal.domain.jobs.models import (
    SENDING,
    Action,
    Halt,
    Job,
    JobState,
    NextStep,
    Part,
    PartState,
    Row,
    RowState,
    rewrite_rows,
)
from portal.domain.jobs.results import take_snapshot
from portal.domain.jobs.running import stop_job
from portal.domain.people.member_fields import CODE, FACE, MEMBER
from portal.domain.people.models import Member
from portal.domain.people.text_folding import stored_forms
from tenants.connections.service_clients import current_connection
from tenants.models import Connection, current_tenant
from tenants.permission_conditions import holds_permission
from tenants.postgresql.advisory_locks import AdvisoryLock
from tenants.roles import Permission
from tenants.scope import current_tenant_id
from tenants.sentences import Sentence, coded_sentence

log = structlog.get_logger(__name__)


OPERATIONS = {
    Action.DELETE: "bulk_delete_members",
    Action.UPDATE: "bulk_update_members",
    Action.CREATE: "bulk_create_members",
}
_PART_TITLES = {Action.DELETE: "job.deletes", Action.UPDATE: "job.changes", Action.CREATE: "job.creates"}
# The length of {"members":[]}: each member adds its own JSON and a comma.
_EMPTY_BODY_BYTES = len(b'{"members":[]}')
# No two jobs of a tenant record requests at once: each must see which members the requests of the others are about.
_ONE_JOB = AdvisoryLock("jobs.bulk")
# When to check again without a notification, in case the end of a request was missed. Readings are waited for.
_CHECK_AGAIN_AFTER = {PartState.OPEN: timedelta(seconds=20), PartState.READING: timedelta(seconds=5)}


def wait(job: Job) -> timedelta | None:
    """Return how long to wait for the current request before the next check; None: its part is settled."""
    part = Part.objects.filter(job=job).exclude(state=PartState.CLOSED).first()
    return None if part is None or _settle_if_ended(job, part) else _CHECK_AGAIN_AFTER[PartState(part.state)]


def send(job: Job) -> NextStep:
    """Record the next request of a running job. The caller has locked the job's row."""
    _ONE_JOB.hold_until_commit(current_tenant_id())
    later = False
    for action in SENDING:
        while waiting := list(_waiting(job, action)[: job.part_rows]):
            ready = ready_rows(job, _without_busy_members(job, waiting))
            if ready is None:
                return NextStep.WORK
            if not ready:
                later = True
                break
            rows = _within_size_limit(job, check_before_sending(job, action, ready))
            if rows:
                _send(job, action, rows)
                return NextStep.SENT
    return NextStep.LATER if later else NextStep.NOTHING


def work(job_id: int) -> None:
    """Read the members that the next request needs."""
    read_members(job_id)


def _settle_if_ended(job: Job, part: Part) -> bool:
    """Settle the part if its request has ended. Return whether it is settled.

    Also finds ended requests whose notification was lost or whose process ended.
    """
    if part.state == PartState.OPEN and part.intent_id is not None:
        intent = Intent.objects.get(pk=part.intent_id)
        if intent.state in FINAL:
            results.settle_part(job, part, intent)
            part.refresh_from_db()
    if part.state == PartState.READING:
        results.reconcile_part(job, part)
    return part.state == PartState.CLOSED


def _waiting(job: Job, action: Action) -> QuerySet[Row]:
    """Return the rows for the next request. Rows that free a card are sent before all others."""
    rows = Row.objects.filter(job=job, state=RowState.PENDING, action=action).order_by("line")
    first = rows.filter(goes_first=True)
    return first if first.exists() else rows


def is_under_way(member_id: str) -> bool:
    """Return whether an unfinished request of a job is about this member: its effect is not known yet."""
    return Row.objects.filter(_in_open_part(), state=RowState.SENT, member_id=member_id).exists()


def _in_open_part() -> Q:
    return Q(part__in=Part.objects.exclude(state=PartState.CLOSED))


def _without_busy_members(job: Job, rows: list[Row]) -> list[Row]:
    """Leave out members that another unfinished request is about: its effect is not known yet."""
    busy = Row.objects.filter(_in_open_part(), state=RowState.SENT).exclude(part__job=job).exclude(member_id="")
    taken = set(busy.values_list("member_id", flat=True))
    single = Intent.objects.filter(state__in=UNDER_WAY, delivery=Delivery.SET, target__startswith="member:")
    targets = set(single.values_list("target", flat=True))
    return [row for row in rows if row.member_id not in taken and target_of("member", row.member_id) not in targets]


def member_body(row: Row) -> dict[str, Any]:
    """Return the row as an item of the request's members."""
    if row.action == Action.DELETE:
        return {"member_id": row.member_id}
    body: dict[str, Any] = row.content["body"]
    return {"member_id": row.member_id, **body} if row.action == Action.UPDATE else body


def _within_size_limit(job: Job, rows: Sequence[Row]) -> list[Row]:
    """Return the first rows that fit in the size limit of a request; at least one."""
    catalogue = current_tenant().environment.catalogue
    taken: list[Row] = []
    size = _EMPTY_BODY_BYTES
    for row in rows:
        operation = catalogue.find(OPERATIONS[Action(row.action)])
        size += len(encode_json(operation, {"members": [member_body(row)]}, catalogue.shapes)) - _EMPTY_BODY_BYTES + 1
        if taken and size > job.part_bytes:
            break
        taken.append(row)
    return taken


def _send(job: Job, action: Action, rows: list[Row]) -> Part:
    last = Part.objects.filter(job=job).aggregate(last=Max("ordinal"))["last"]
    part = Part.objects.create(job=job, ordinal=(last or 0) + 1, action=action, rows=len(rows))
    for position, row in enumerate(rows):
        row.position = position
    Row.objects.bulk_update(rows, ["position"], batch_size=500)
    Row.objects.filter(pk__in=[row.pk for row in rows]).update(
        state=RowState.SENT, part=part, attempts=F("attempts") + 1, code="", detail="", problems=[]
    )
    family = kinds.kind_of(job).family
    part.intent = submit(
        Command(
            permission=Permission(job.permission),
            operation=OPERATIONS[action],
            target=f"{family}:{job.pk}",
            title=_title(job, part),
            body={"members": [member_body(row) for row in rows]},
            snapshot=take_snapshot(rows) if action == Action.CREATE else None,
            priority=Priority.JOBS,
        ),
        inline=False,
        by=Requester(current_tenant(), job.by, job.support_session),
        nonce=Nonce(f"{family}-{job.pk}-part-{part.ordinal}"),
    )
    part.save(update_fields=["intent"])
    Job.objects.filter(pk=job.pk).update(reading_since=None)
    return part


def _title(job: Job, part: Part) -> Sentence:
    what = coded_sentence(_PART_TITLES[Action(part.action)], n=part.rows)
    return coded_sentence("job.part", job=kinds.kind_of(job).title_of(job), what=what, part=part.ordinal)


def check_before_sending(job: Job, action: Action, rows: list[Row]) -> list[Row]:
    """Return the rows to send, with their bodies. Rows that are left out are settled with a reason."""
    if action == Action.CREATE:
        return _without_new_duplicates(rows)
    look = kinds.kind_of(job).decide_rows
    return rows if look is None else _apply_decisions(job, rows, look(job, rows))


def _apply_decisions(job: Job, rows: list[Row], verdicts: Mapping[int, RowDecision]) -> list[Row]:
    send: list[Row] = []
    settled: list[Row] = []
    rewritten, noted = [], []
    for row in rows:
        verdict = verdicts.get(row.pk)
        if verdict is not None and verdict.note_code:  # keep the note for after the row was sent
            row.notes = [["", verdict.note_code, {"at_start": True}]]
            noted.append(row)
        match verdict:
            case LeaveUnchanged():
                row.state, row.problems = RowState.KEPT, [["", verdict.reason_code, {}]]
            case Skip():
                row.state, row.problems = RowState.FAILED, [[verdict.field, verdict.reason_code, verdict.facts]]
            case AlreadyApplied():
                row.state, row.problems = RowState.SUCCEEDED, [["", verdict.reason_code, {}]]
            case Send():
                row.content = {**row.content, "body": verdict.body, "old": verdict.old}
                rewritten.append(row)
        (send if isinstance(verdict, Send | None) else settled).append(row)
    Row.objects.bulk_update(noted, ["notes"], batch_size=500)
    Row.objects.bulk_update(settled, ["state", "problems"], batch_size=500)
    rewrite_rows(job, rewritten)
    return send


def _without_new_duplicates(rows: list[Row]) -> list[Row]:
    """Leave out new members whose code another member got after the check: they would be duplicates."""
    keys = {form for row in rows if row.content["code"] for form in stored_forms(row.content["code"])}
    taken = set(Member.objects.filter(gone_at__isnull=True, code_key__in=keys).values_list(CODE.name, flat=True))
    late = [row.pk for row in rows if row.content["code"] and row.content["code"] in taken]
    Row.objects.filter(pk__in=late).update(state=RowState.FAILED, problems=[[CODE.name, "appeared", {}]])
    return [row for row in rows if row.pk not in late]


def compare_with_lists(job: Job, rows: Sequence[Row]) -> Mapping[int, RowDecision]:
    """Return decisions for kinds that change values shown in lists: skip rows whose former values changed."""
    members = {m.member_id: m for m in Member.objects.filter(member_id__in=[row.member_id for row in rows])}
    decisions = {row.pk: _compare_row(row, members.get(row.member_id)) for row in rows}
    return {pk: decision for pk, decision in decisions.items() if decision is not None}


def _compare_row(row: Row, member: Member | None) -> RowDecision | None:
    if member is None or member.gone_at is not None:
        return AlreadyApplied() if row.action == Action.DELETE else Skip("gone")
    present, content = {**MEMBER.written_values(member), **_values_of_no_request(member)}, row.content
    old, body = content["old"], content["body"]
    if row.action != Action.DELETE and all(MEMBER.is_same(name, value, present[name]) for name, value in body.items()):
        return AlreadyApplied()
    known = {name: value for name, value in old.items() if name in present}
    changed = [name for name, value in known.items() if not MEMBER.is_same(name, value, present[name])]
    return Skip("meanwhile", field=changed[0]) if changed else None


def _values_of_no_request(member: Member) -> dict[str, Any]:
    """Return the face, and the rights if they are known: a member to be deleted is compared with these, too."""
    return {FACE.name: member.has_face or None, **(member.rights or {})}


# A row is sent only if its member was read within this time. Rows that were read wait at most MAX_HOLD.
MAX_READ_AGE = timedelta(minutes=15)
MAX_HOLD = timedelta(minutes=5)
# One run of a worker, the lease (longer than one call), and the pause after a fault.
RUN_SECONDS = 30
LEASE = timedelta(seconds=45)
PAUSE_AFTER_FAULT = timedelta(seconds=30)
# How often a member that cannot be read is tried, after all others. After this many faults in a row, the service itself
# is taken to be faulty.
MAX_FAULTS, MAX_FAULTS_IN_A_ROW = 20, 2


def ready_rows(job: Job, rows: list[Row]) -> list[Row] | None:
    """Return the rows that can be sent, by the mirror's data; None: others must be read before anything is sent."""
    if kinds.kind_of(job).rows_to_read is None or not rows:
        return rows
    now = database_now()
    unread = _rows_to_read(job, rows, now)
    ready = [row for row in rows if row.pk not in unread]
    blocked = job.blocked_until is not None and job.blocked_until > now
    held = job.reading_since is not None and job.reading_since < now - MAX_HOLD
    return ready if not unread or blocked or (ready and held) else None


def _rows_to_read(job: Job, rows: Sequence[Row], now: datetime) -> set[int]:
    ours = kinds.kind_of(job).rows_to_read
    unread = [row for row in rows if row.read_at is None or row.read_at < now - MAX_READ_AGE]
    if ours is None or not unread:
        return set()
    # After a lost answer, the mirror may be older than the service's data.
    again = {row.pk for row in unread if row.attempts}
    return again | ours(job, [row for row in unread if not row.attempts])


def read_members(job_id: int) -> None:
    """Read members for a while. Afterwards the job is due at once, or when there are API calls again."""
    job = _take_lease(job_id)
    if job is None:
        return
    connection = current_connection()
    blocked = None
    if not connection.is_connected:
        blocked = database_now() + PAUSE_AFTER_FAULT
    else:
        waiting = Row.objects.filter(job=job, state=RowState.PENDING).exclude(member_id="")
        rows = list(waiting.order_by("action", "line")[: job.part_rows])
        unread = _rows_to_read(job, rows, database_now())
        to_read = sorted((row for row in rows if row.pk in unread), key=lambda row: row.faults)
        blocked = _read_rows(job, connection, to_read)
    mine = Job.objects.filter(pk=job.pk, lease=job.lease)
    if mine.update(lease=None, reading_until=None, blocked_until=blocked):
        Job.objects.filter(pk=job.pk, state=JobState.RUNNING).update(due_at=ClockTime())
        running.wake_after_commit(job)


def _take_lease(job_id: int) -> Job | None:
    token = uuid.uuid4()
    free = Q(reading_until__isnull=True) | Q(reading_until__lt=ClockTime())
    job = Job.objects.filter(pk=job_id, state=JobState.RUNNING).first()
    if job is None:
        return None
    may = holds_permission(job.permission)
    taken = Job.objects.filter(free, may, pk=job_id, state=JobState.RUNNING, stop_requested=False).update(
        lease=token, reading_until=ClockTime() + LEASE
    )
    if not taken:
        return None
    Job.objects.filter(pk=job_id, reading_since__isnull=True).update(reading_since=ClockTime())
    job.refresh_from_db()
    return job


def _read_rows(job: Job, connection: Connection, rows: Sequence[Row]) -> datetime | None:
    """Read one member per row until the time is up. Return until when to pause, or None."""
    end, in_a_row = monotonic() + RUN_SECONDS, 0
    paused_until: datetime | None = None
    for row in rows:
        if monotonic() >= end or not _renew_lease(job):
            return None
        try:
            kinds.kind_of(job).read_member(connection, row.member_id)
        except BudgetExhausted as exhausted:
            return exhausted.check_again_at
        except errors.NotFound:
            Row.objects.filter(pk=row.pk, state=RowState.PENDING).update(
                state=RowState.FAILED, problems=[["", "gone", {}]]
            )
        except (errors.Unauthorised, errors.Forbidden):
            with transaction.atomic():
                held = Job.objects.select_for_update(of=("self",)).get(pk=job.pk)
                stop_job(held, Halt.CONNECTION)
            return None
        except errors.ServiceError as error:
            log.warning("bulk_read_failed", job_id=job.pk, error=type(error).__name__)
            if not _is_member_fault(error):
                return database_now() + PAUSE_AFTER_FAULT
            _count_fault(row)
            in_a_row, paused_until = in_a_row + 1, database_now() + PAUSE_AFTER_FAULT
            if in_a_row >= MAX_FAULTS_IN_A_ROW:
                return paused_until
            continue
        else:
            Row.objects.filter(pk=row.pk).update(read_at=ClockTime())
        in_a_row = 0
        Job.objects.filter(pk=job.pk).update(reads=F("reads") + 1)
    return paused_until


def _is_member_fault(error: errors.ServiceError) -> bool:
    """Return whether the fault may be about this member alone, and not about the whole service."""
    unsent = isinstance(error, errors.NotSent) and not isinstance(error, errors.InvalidRequest)
    return not unsent and not isinstance(error, errors.RateLimited)


def _count_fault(row: Row) -> None:
    """Count a failed reading. After too many the row fails, so that it does not block the other rows for ever."""
    waiting = Row.objects.filter(pk=row.pk, state=RowState.PENDING)
    waiting.update(faults=F("faults") + 1)
    waiting.filter(faults__gte=MAX_FAULTS).update(state=RowState.FAILED, problems=[["", "unreadable", {}]])


def _renew_lease(job: Job) -> bool:
    """Extend the lease. Return False when another worker has the job, or it was stopped."""
    mine = Job.objects.filter(pk=job.pk, lease=job.lease, state=JobState.RUNNING, stop_requested=False)
    return bool(mine.update(reading_until=ClockTime() + LEASE, due_at=ClockTime() + LEASE))
