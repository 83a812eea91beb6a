"""Actions of people on jobs. Each is one transaction with its audit entry; workers are notified after the commit."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import get_language

from accessapi import limits
from portal.base.timers.clock import ClockTime, database_now
from portal.domain.intents.actions import stop as stop_intent
from portal.domain.intents.models import State
from portal.domain.intents.recording import Requester
from portal.domain.jobs import kinds, queries, running
from portal.domain.jobs.models import ALIVE, SENDING, Action, Halt, Job, JobState, NewRow, Row, RowState, insert_rows
from portal.domain.jobs.planning import RowChange
from portal.domain.people.member_fields import CODE, MEMBER, NAME, RIGHTS_NAMES
from portal.domain.people.models import Member
from tenants import audit
from tenants.roles import Permission
from tenants.sentences import Sentence

# A person waits for the preview while a job's rows are stored.
MAX_JOB_ROWS = 50_000
_BATCH = 1000


def create_job(*, by: Requester, kind: str, permission: Permission | str = "", **facts: Any) -> Job:
    """Create a job without rows, for the requester. The caller is in a transaction and writes the audit entry."""
    return Job.objects.create(
        kind=kind,
        permission=permission or kinds.kind_named(kind).permission,
        **_requester_fields(by),
        **facts,
    )


def create_and_start(*, by: Requester, kind: str, title: Sentence, facts: Mapping[str, Any], **more: Any) -> Job:
    """Create a job that needs no preview and start it. The caller is in a transaction.

    `facts` are stored in the audit log.
    """
    more |= {"state": JobState.RUNNING, "started_at": ClockTime(), "due_at": ClockTime()}
    job = create_job(by=by, kind=kind, title=title, **more)
    job.refresh_from_db()
    record_action(by, job, "started", dict(facts))
    wake(job)
    return job


def _requester_fields(by: Requester) -> dict[str, Any]:
    return {"by": by.user, "support_session": by.support_session, "language": get_language() or "en"}


def prepare(
    *,
    kind: str,
    by: Requester,
    rows: Iterable[RowChange] = (),
    deletions: Iterable[RowChange] = (),
    title: Sentence | str = "",
    permission: Permission | None = None,
    options: Mapping[str, Any] | None = None,
    unchanged: int = 0,
    starts_at: datetime | None = None,
    undo_of: Job | None = None,
    is_audited_elsewhere: bool = False,
) -> Job:
    """Store a job with its rows for the preview; nothing is sent before `start`.

    `rows` change members, `deletions` delete them. A body may be empty if the kind's `decide_rows` fills it. Names and
    codes for people are those of the mirror. `unchanged`: how many chosen members were left out because nothing would
    change. `is_audited_elsewhere`: the audit log already has an entry for this action.
    """
    with transaction.atomic():
        job = create_job(
            by=by,
            kind=kind,
            permission=permission or "",
            title=title,
            options=dict(options or {}),
            state=JobState.CHECKED,
            checked_at=ClockTime(),
            unchanged=unchanged,
            starts_at=starts_at,
            undo_of=undo_of,
        )
        deleted = _store_rows(job, Action.DELETE, deletions)
        count = _store_rows(job, Action.UPDATE, rows, after=deleted)
        Job.objects.filter(pk=job.pk).update(size=count)
        job.refresh_from_db()
        if not is_audited_elsewhere:
            record_action(by, job, "prepared", {"rows": count, **job.options})
    return job


def _store_rows(job: Job, action: Action, rows: Iterable[RowChange], after: int = 0) -> int:
    """Store rows with the lines after this one. Return the last line."""
    line, left = after, iter(rows)
    while batch := list(itertools.islice(left, _BATCH)):
        members = Member.objects.filter(member_id__in=[member_id for member_id, _body, _old in batch])
        named = {member_id: who for member_id, *who in members.values_list("member_id", NAME.name, CODE.name)}
        fresh = []
        for member_id, body, old in batch:
            line += 1
            name, code = named.get(member_id, ("", ""))
            content = {"name": name, "code": code, "body": dict(body), "old": dict(old)}
            fresh.append(NewRow(line, action, member_id, content))
        insert_rows(job, fresh)
    return line


def start(*, by: Requester, job: Job, should_send_duplicates: bool = False, is_audited_elsewhere: bool = False) -> bool:
    """Start to send, or to wait for the job's start time. Return False when it has started or has nothing to send.

    `should_send_duplicates`: a person has checked the possible duplicates and wants them sent, too.
    `is_audited_elsewhere`: the audit log already has an entry for this action.
    """
    with transaction.atomic():
        checked = Row.objects.filter(job=job, state=RowState.CHECKED)
        to_send = checked.filter(action__in=[*SENDING, Action.DOUBLE] if should_send_duplicates else SENDING)
        if not to_send.exists() or not _mark_started(job, by, should_send_duplicates):
            return False
        job.refresh_from_db()
        count = to_send.filter(action__in=SENDING).update(state=RowState.PENDING)
        count += to_send.update(state=RowState.PENDING, action=Action.CREATE, problems=[])
        checked.filter(action=Action.DOUBLE).update(state=RowState.STOPPED)
        if job.retry_of is not None:
            _mark_retried(job, job.retry_of)
        if not is_audited_elsewhere:
            at = job.starts_at if job.state == JobState.WAITING else None
            facts = {"rows": count} | ({"at": at.isoformat()} if at else {})
            record_action(by, job, "scheduled" if at else "started", facts)
        kinds.kind_of(job).on_started(job, by)
        wake(job)
    return True


def _mark_started(job: Job, by: Requester, doubles: bool) -> bool:
    waits = job.starts_at is not None and job.starts_at > database_now()
    ready = Job.objects.filter(pk=job.pk, state=JobState.CHECKED, erased_at=None)
    begun = ready.update(
        **_requester_fields(by),
        options={**job.options, "doubles": True} if doubles else job.options,
        state=JobState.WAITING if waits else JobState.RUNNING,
        started_at=None if waits else ClockTime(),
        due_at=job.starts_at if waits else ClockTime(),
        part_rows=limits.BULK_MEMBERS_MAX,
        part_bytes=limits.BULK_BODY_MAX,
    )
    return bool(begun)


def _mark_retried(job: Job, before: Job) -> None:
    """Mark the rows that this job sends again. Rows that another job has already retried are not sent here."""
    origin = Job.objects.select_for_update(of=("self",)).get(pk=before.pk)  # it may be running at the same time
    mine = Row.objects.filter(job=job, state=RowState.PENDING)
    lines = list(mine.values_list("line", flat=True))
    queries.rows_not_applied(origin).filter(line__in=lines).update(retried_in=job)
    elsewhere = Row.objects.filter(job=origin, line__in=lines).exclude(retried_in=job).values_list("line", flat=True)
    # Do not send them from here either, now or by a retry of this retry.
    mine.filter(line__in=list(elsewhere)).update(
        state=RowState.STOPPED, problems=[["", "retried_elsewhere", {}]], retried_in=origin
    )


def stop(*, by: Requester, job: Job) -> bool:
    """Stop sending. Requests that the service has accepted are followed to their end. Return False when not started."""
    with transaction.atomic():
        started = Job.objects.filter(pk=job.pk, state__in=ALIVE, stop_requested=False)
        if not started.update(stop_requested=True, due_at=ClockTime()):
            return False
        record_action(by, job, "stopped", {})
        if job.state == JobState.WAITING:
            running.stop_job(job, Halt.PERSON)
        wake(job)
    # Outside of the job's lock: the end of an intent takes both locks, the intent's first.
    for intent in queries.intents_of(job).filter(state=State.QUEUED):
        stop_intent(intent)
    return True


def continue_job(*, by: Requester, job: Job) -> bool:
    """Send the remaining rows of a stopped job, for the requester. Return False when it is not stopped."""
    with transaction.atomic():
        stopped = Job.objects.filter(pk=job.pk, state=JobState.STOPPED, erased_at=None)
        if not stopped.update(
            **_requester_fields(by),
            state=JobState.RUNNING,
            halt=Halt.NONE,
            started_at=job.started_at or ClockTime(),
            finished_at=None,
            stop_requested=False,
            blocked_until=None,
            due_at=ClockTime(),
        ):
            return False
        stopped_rows = Row.objects.filter(job=job, state=RowState.STOPPED, retried_in__isnull=True, problems=[])
        stopped_rows.update(state=RowState.PENDING, part=None, position=None, read_at=None)
        record_action(by, job, "continued", {})
        wake(job)
    return True


def retry(*, by: Requester, job: Job) -> Job | None:
    """Return a new job to preview, with the rows that were surely not applied. None: there are none.

    The rows' former values are read from the mirror again.
    """
    with transaction.atomic():
        rows = list(queries.rows_not_applied(job).exclude(member_id="").order_by("line"))
        if not rows or job.state not in (JobState.DONE, JobState.STOPPED):
            return None
        again = create_job(
            by=by,
            kind=job.kind,
            permission=job.permission,
            title=job.title,
            options=job.options,
            state=JobState.CHECKED,
            checked_at=ClockTime(),
            retry_of=job,
            undo_of=job.undo_of,
            size=len(rows),
        )
        for at in range(0, len(rows), _BATCH):
            _copy_rows(again, rows[at : at + _BATCH])
        record_action(by, again, "retried", {"of": job.pk, "rows": len(rows)})
        again.refresh_from_db()
    return again


def _copy_rows(job: Job, rows: Sequence[Row]) -> None:
    """Copy rows to another job; their former values are those that the mirror shows now.

    An undo keeps them: it is only for members that have not changed since.
    """
    members = {m.member_id: m for m in Member.objects.filter(member_id__in=[row.member_id for row in rows])}
    fresh = []
    for row in rows:
        content, member = dict(row.content), members.get(row.member_id)
        if member is not None and job.undo_of_id is None:
            listed, rights = MEMBER.written_values(member), member.rights or {}
            old = {name: listed[name] for name in content["body"] or content["old"] if name in listed}
            old |= {name: rights[name] for name in content["body"] if name in RIGHTS_NAMES and name in rights}
            content["old"] = old
        fresh.append(NewRow(row.line, Action(row.action), row.member_id, content))
    insert_rows(job, fresh)


def decide(*, by: Requester, job: Job, rows: Sequence[int] | None, applied: bool) -> int:
    """Record a person's decision about uncertain rows (None: all). Return how many were settled."""
    with transaction.atomic():
        Job.objects.select_for_update(of=("self",)).get(pk=job.pk)
        uncertain = Row.objects.filter(job=job, state=RowState.UNCERTAIN)
        if rows is not None:
            uncertain = uncertain.filter(pk__in=rows)
        word = "decided_yes" if applied else "decided_no"
        state = RowState.SUCCEEDED if applied else RowState.FAILED
        count = uncertain.update(state=state, problems=[["", word, {}]])
        if count:
            record_action(by, job, "decided", {"rows": count, "applied": applied})
    return count


def discard(*, by: Requester, job: Job) -> bool:
    """Delete a job that never started. Return False when it has started, because then it is kept as a record."""
    never_started = (JobState.DRAFT, JobState.MAPPED, JobState.CHECKED, JobState.REFUSED)
    with transaction.atomic():
        held = Job.objects.select_for_update(of=("self",)).filter(pk=job.pk, state__in=never_started).first()
        if held is None:
            return False
        record_action(by, job, "discarded", {})
        Row.objects.filter(job=held).delete()
        held.delete()
    return True


def record_download(*, by: Requester, job: Job, rows: int) -> None:
    """Record that a person downloaded rows of the job."""
    with transaction.atomic():
        record_action(by, job, "downloaded", {"rows": rows})


def record_action(by: Requester, job: Job, action: str, after: dict[str, Any]) -> None:
    """Write an action on a job to the audit log."""
    entry = kinds.describe_for_audit(job, action)
    audit.record(
        **by.audit_author,
        action=entry.action,
        target=entry.target,
        summary=entry.summary,
        after={**after, **entry.facts} or None,
    )


def wake(job: Job) -> None:
    """Notify a worker of the job after the commit."""
    job.refresh_from_db()
    running.wake_after_commit(job)
