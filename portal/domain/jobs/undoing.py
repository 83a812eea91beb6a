"""Undo a job by another job, which is previewed like any other.

Changed members get their former values, and created members are deleted, if they have not changed since. This is
checked for the preview and again just before sending (`bulk_executor.compare_with_lists`).
"""

from collections.abc import Iterable

from django.db.models import F, Q, QuerySet

from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, bulk_executor, kinds
from portal.domain.jobs.kinds import AlreadyApplied, RowDecision, Skip
from portal.domain.jobs.models import Action, Job, JobState, Row, RowState
from portal.domain.jobs.planning import ChangePlan
from portal.domain.people.fields import Unrestorable
from portal.domain.people.member_fields import FACE, MEMBER
from tenants.access import access_to
from tenants.roles import Permission

_ENDED = (JobState.DONE, JobState.STOPPED)
# A row whose answer was lost, and that was found applied before it was sent again, has no request any more.
_SENT_BY_JOB = Q(part__isnull=False) | Q(attempts__gt=0)
_BATCH = 1000


def undoable(jobs: Iterable[Job]) -> set[int]:
    """Return the IDs of the jobs whose page offers to undo them. One query, and none if no job can be undone."""
    ended = {job.pk for job in jobs if kinds.kind_of(job).can_undo and job.state in _ENDED}
    if not ended:
        return set()
    return ended - set(
        Job.objects.filter(undo_of__in=ended, started_at__isnull=False).values_list("undo_of_id", flat=True)
    )


def undo(*, by: Requester, job: Job) -> Job | None:
    """Return a new job to preview that restores the former values. None: nothing was changed, or the job still runs.

    Rows whose member no longer has the value that this job set are skipped when they are sent, and reported.
    """
    if not kinds.kind_of(job).can_undo or job.state not in _ENDED:
        return None
    done = Row.objects.filter(_SENT_BY_JOB, job=job, state=RowState.SUCCEEDED, action=Action.UPDATE)
    rows = list(done.order_by("line"))
    back = [(row.member_id, row.content["old"], row.content["body"]) for row in rows if row.content["old"]]
    if not back:
        return None
    options = {**job.options, "undo": not job.options.get("undo", False)}
    permission = Permission(job.permission)
    return actions.prepare(
        kind=job.kind, by=by, rows=back, title=job.title, permission=permission, options=options, undo_of=job
    )


def undo_creations(*, by: Requester, job: Job, kind: str) -> Job | None:
    """Return a new job of `kind` to preview that also deletes the members that a job created. None as in `undo`.

    Deleting needs the permission for it. Without it, the created members are left out.
    """
    if job.state not in _ENDED:
        return None
    access = access_to(by.user, by.tenant)
    plan = _plan(job, may_delete=access is not None and access.can(Permission.MEMBERS_DELETE))
    if plan.is_empty:
        return None
    return actions.prepare(
        kind=kind,
        by=by,
        rows=plan.rows,
        deletions=plan.deletions,
        title=job.title,
        permission=Permission.MEMBERS_DELETE if plan.deletions else Permission(job.permission),
        options=plan.options,
        unchanged=plan.left_out.total(),
        undo_of=job,
    )


def _plan(job: Job, *, may_delete: bool) -> ChangePlan:
    plan, ids = ChangePlan(), list(_applied_rows(job).values_list("pk", flat=True))
    if len(ids) > actions.MAX_JOB_ROWS:
        plan.left_out["rest"] = len(ids) - actions.MAX_JOB_ROWS
    for at in range(0, min(len(ids), actions.MAX_JOB_ROWS), _BATCH):
        some = ids[at : min(at + _BATCH, actions.MAX_JOB_ROWS)]
        rows = Row.objects.in_bulk(some)
        reasons = {pk: _reverse(rows[pk]) for pk in some}
        decisions = bulk_executor.compare_with_lists(job, [rows[pk] for pk in some if not reasons[pk]])
        for pk in some:
            row = rows[pk]
            if reason := reasons[pk] or _reason(row, decisions.get(pk), may_delete):
                plan.leave_out(reason, row.member_id)
            else:
                changes = plan.deletions if row.action == Action.DELETE else plan.rows
                changes.append((row.member_id, row.content["body"], row.content["old"]))
    return plan


def _applied_rows(job: Job) -> QuerySet[Row]:
    """Return the rows that changed or created a member, or may have done so, the last one first.

    In this order, a card that the job passed on is free again before it is given back.
    """
    sent = Row.objects.filter(_SENT_BY_JOB | Q(state=RowState.UNCERTAIN), job=job)
    applied = sent.filter(state__in=[RowState.SUCCEEDED, RowState.UNCERTAIN], action__in=[Action.CREATE, Action.UPDATE])
    last_first = [F(name).desc(nulls_last=True) for name in ("part__ordinal", "position", "line")]
    return applied.order_by(*last_first)


# The fields of the request that creates a member, with the values that the service sets for those left out.
_AFTER_CREATION = {**{each.name: each.default for each in MEMBER if each.request_model is not None}, FACE.name: None}


def _reverse(row: Row) -> str:
    """Turn a row, in memory alone, into the one that undoes it. Return the reason if this is impossible, else ""."""
    if row.state == RowState.UNCERTAIN or not row.member_id:
        return "uncertain"
    content = row.content
    if row.action == Action.CREATE:
        row.action = Action.DELETE
        row.content = {**content, "body": {}, "old": {**_AFTER_CREATION, **content["body"]}}
        return ""
    try:
        former = {name: MEMBER[name].value_to_restore(value) for name, value in content["old"].items()}
    except Unrestorable:
        return "unrestorable"
    row.content = {**content, "body": former, "old": content["body"]}
    return ""


def _reason(row: Row, decision: RowDecision | None, may_delete: bool) -> str:
    """Return why nothing is sent for a row; "" if it is sent."""
    deletes = row.action == Action.DELETE
    match decision:
        case Skip(reason_code="gone"):
            return "gone"
        case Skip():
            return "changed"
        case AlreadyApplied():
            return "gone" if deletes else "restored"
    return "no_deletion" if deletes and not may_delete else ""
