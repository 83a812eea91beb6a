"""Changes that staff make to an area's access: prepare and undo edits. Also records exports of lists."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from portal.areas import jobs, merging
from portal.areas.merging import AccessEdit, EditDecision, EditKind, EditResult
from portal.base.timers.clock import database_now
from portal.domain.intents.actions import Requester
from portal.domain.intents.models import target_of
from portal.domain.jobs import actions
from portal.domain.jobs.models import Job, JobState, Row, RowState
from portal.domain.jobs.queries import with_problem_flags
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from tenants import audit
from tenants.roles import Permission
from tenants.sentences import coded_sentence

RowValues = tuple[str, dict[str, Any], dict[str, Any]]


@dataclass
class EditPlan:
    """The rows and counts of an edit before it becomes a job.

    `rows`: (member ID, body, former values) of each row; both are empty if the rights must be read first. `counts`:
    members by result. `unread`: members whose rights were never read. `stale`: changed members whose rights are read
    again first.
    """

    rows: list[RowValues] = field(default_factory=list)
    counts: Counter[EditResult] = field(default_factory=Counter)
    unread: int = 0
    stale: int = 0

    @property
    def unchanged(self) -> int:
        """Return the number of chosen members without a change."""
        return sum(n for effect, n in self.counts.items() if effect not in (EditResult.CHANGES, EditResult.LISTED))

    def to_options(self) -> dict[str, int]:
        """Return the counts for the job's options."""
        found = {str(effect): n for effect, n in self.counts.items() if n}
        return found | {"unread": self.unread, "stale": self.stale}


def plan_edit(
    members: QuerySet[Member], edit: AccessEdit, max_age: timedelta, *, include_unchanged: bool = False
) -> EditPlan:
    """Decide about every chosen member from the mirror. Equal rights are decided only once.

    With `include_unchanged`, members without a change get a row too, for a job that decides again later.
    """
    all_areas = list(Area.objects.values_list("area_id", flat=True))
    decide = _cached(lambda rights: merging.decide(rights, edit, all_areas))
    return _plan_members(members, lambda _member_id, rights: decide(rights), max_age, include_unchanged)


def plan_undo(done: dict[str, tuple[Any, Any]], area_id: str, max_age: timedelta) -> EditPlan:
    """Decide about undoing: `done` has (before, after) of each member of the job to be undone."""
    members = Member.objects.filter(member_id__in=done, gone_at__isnull=True)
    return _plan_members(members, lambda member_id, rights: merging.undo(rights, *done[member_id], area_id), max_age)


def _plan_members(
    members: QuerySet[Member], decide: Callable[[str, Any], EditDecision], trust: timedelta, everybody: bool = False
) -> EditPlan:
    """Decide about the devices_pass of each member in order of name. Members with unknown rights are read first."""
    found, since = EditPlan(), database_now() - trust
    rows = members.order_by("name_key", "pk").values_list("member_id", "rights", "rights_read_at")
    for member_id, rights, read_at in rows.iterator(chunk_size=2000):
        if rights is None:
            found.unread += 1
            found.rows.append((member_id, {}, {}))
            continue
        now = rights.get("devices_pass")
        verdict = decide(member_id, now)
        found.counts[verdict.result] += 1
        found.stale += verdict.is_sent and (read_at is None or read_at < since)
        if verdict.is_sent or everybody:
            body = {"devices_pass": verdict.after} if verdict.is_sent else {}
            found.rows.append((member_id, body, {"devices_pass": now}))
    return found


def _cached(decide: Callable[[Any], EditDecision]) -> Callable[[Any], EditDecision]:
    known: dict[str, EditDecision] = {}

    def remembered(rights: Any) -> EditDecision:
        key = json.dumps(rights, sort_keys=True)
        if key not in known:
            known[key] = decide(rights)
        return known[key]

    return remembered


# The posted selection is stored in the job, so that staff can go back and choose other hours.
Chosen = Mapping[str, str]


def prepare(
    *,
    area: Area,
    members: QuerySet[Member],
    edit: AccessEdit,
    max_age: timedelta,
    chosen: Chosen,
    by: Requester,
    starts_at: datetime | None = None,
    until: datetime | None = None,
) -> Job | None:
    """Return a job for the preview; nothing is sent. Return None if nothing would change for anyone.

    With `starts_at`, the job has rows for all chosen members, and the change of each is decided at that time. `until`
    is when the access given by it ends (`jobs.schedule_end`).
    """
    planned = plan_edit(members, edit, max_age, include_unchanged=starts_at is not None)
    options = {
        "pass": edit.pass_, "replace": edit.replace_hours, "everywhere": edit.include_everywhere,
        "chosen": dict(chosen),
        "scheduled": starts_at is not None, "until": until.isoformat() if until else "",
    }  # fmt: skip
    return _prepare_job(area, edit.kind, planned, max_age, options, by, starts_at=starts_at)


def undo(*, job: Job, by: Requester) -> Job | None:
    """Return a job that restores what an edit changed, except where it was changed again since.

    Return None if there is nothing to do or it was undone already.
    """
    area = Area.objects.filter(area_id=job.options["area_id"]).first()
    if area is None or not can_be_undone(job):
        return None
    trust = jobs.max_age_of(job)
    plan = plan_undo(_changed_members(job), area.area_id, trust)
    return _prepare_job(area, EditKind.UNDO, plan, trust, {}, by, undo_of=job)


def edits_of(area: Area) -> QuerySet[Job]:
    """Return the edits of an area, each with whether it was undone already (`is_undone`)."""
    undone = Job.objects.filter(undo_of=OuterRef("pk")).exclude(state__in=[JobState.CHECKED, JobState.WAITING])
    edits = Job.objects.filter(kind=jobs.EDIT_KIND, options__area_id=area.area_id)
    return with_problem_flags(edits).annotate(is_undone=Exists(undone))


def can_be_undone(job: Any) -> bool:
    """Return whether one of `edits_of` has finished and was not undone yet."""
    finished = job.state in (JobState.DONE, JobState.STOPPED)
    return finished and job.undo_of_id is None and not job.is_undone


def record_export(*, by: Requester, area: Area | None, count: int, kind: str, match: str) -> None:
    """Record the export of a list before it is sent: members of an area, or areas if `area` is None."""
    form = kind.upper()
    people = coded_sentence("area.export", area=area, n=count, kind=form)
    with transaction.atomic():
        audit.record(
            **by.audit_author,
            action="area.export",
            target=target_of("area", area.area_id) if area else "areas",
            summary=people if area else coded_sentence("areas.export", n=count, kind=form),
            after={"rows": count, "filter": match, "format": kind},
        )


def _changed_members(job: Job) -> dict[str, tuple[Any, Any]]:
    """Return (before, after) of each member that a job really changed."""
    rows = Row.objects.filter(job=job, state=RowState.SUCCEEDED).exclude(member_id="").order_by("line")
    found = {}
    for row in rows.iterator(chunk_size=1000):
        sent = row.content.get("body", {}).get("devices_pass")
        already = any(word == "already" for _field, word, _facts in row.problems)
        if sent is not None and (row.attempts or not already):  # found applied after a lost answer: this job did it
            found[row.member_id] = row.content.get("old", {}).get("devices_pass"), sent
    return found


def _prepare_job(
    area: Area,
    kind: EditKind,
    plan: EditPlan,
    trust: timedelta,
    options: dict[str, Any],
    by: Requester,
    undo_of: Job | None = None,
    starts_at: datetime | None = None,
) -> Job | None:
    if not plan.rows:
        return None
    known = {
        "act": str(kind), "area_id": area.area_id, "area_name": area.area_name, "plan": plan.to_options(),
        "trust": int(trust.total_seconds()) // 60,
    }  # fmt: skip
    return actions.prepare(
        kind=jobs.EDIT_KIND,
        by=by,
        rows=plan.rows,
        permission=Permission.RIGHTS_EDIT,
        options=known | options,
        unchanged=0 if starts_at is not None else plan.unchanged,
        starts_at=starts_at,
        undo_of=undo_of,
    )
