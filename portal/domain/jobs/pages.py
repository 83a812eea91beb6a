"""Shared parts of jobs' pages: tabs over rows, progress, and rows that need a decision."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.ui.outcome_lines import Progress
from portal.base.ui.times import local
from portal.domain.budget import quota
from portal.domain.budget.priorities import Priority
from portal.domain.intents.models import Intent, Reason, State
from portal.domain.intents.queries import send_expected_at
from portal.domain.jobs import costs, kinds, queries, words
from portal.domain.jobs.file_executor import STORE_PROBLEM
from portal.domain.jobs.lists import ATTENTION, JOB_CHIPS, JobRows, filter_rows, job_chip
from portal.domain.jobs.models import ALIVE, Action, Halt, Job, JobState, Part, PartState, Row, RowState
from portal.domain.jobs.queries import RowCounts
from portal.domain.people.models import Group
from tenants.access import TenantRequest
from tenants.connections.service_clients import current_connection
from tenants.models import Connection


def progress_of(job: Job) -> Progress:
    """Return the progress of a job that is being checked or has started."""
    if job.state == JobState.MAPPED:
        return progress_of_check(job)
    return progress_of_run(job, queries.count_rows(job), current_connection())


def progress_of_check(job: Job) -> Progress:
    """Return the progress of the dry run.

    The number of a file's rows is unknown before it is read, except for a file of chosen rows (`size`).
    """
    return Progress(
        title=_("Check"),
        unit=_("rows checked; nothing is sent"),
        done=job.checked_rows,
        total=job.size or max(job.checked_rows, 1),
        poll_url=_progress_address(job),
        poll_seconds=1,
        id="job-progress",
    )


def progress_of_run(job: Job, counts: RowCounts, connection: Connection) -> Progress:
    """Return the progress of sending: the rows with an outcome, out of all rows to send."""
    final = job.state not in ALIVE
    done = counts.settled
    left = costs.remaining_cost(job, connection) if not final else None
    part = Part.objects.filter(job=job).exclude(state=PartState.CLOSED).select_related("intent").first()
    idle = part is None and not done and not counts.by_state(RowState.SENT)
    return Progress(
        title=_("Progress"),
        unit=str(kinds.kind_of(job).unit),
        done=done,
        total=counts.to_send,
        state="waiting" if idle and not final else JOB_CHIPS[JobState(job.state)],
        failed=counts.by_state(RowState.FAILED),
        uncertain=counts.by_state(RowState.UNCERTAIN),
        rate=_rate(job, done),
        calls_left=left.calls if left else None,
        seconds_left=left.seconds if left else None,
        started_at=job.started_at,
        notes=_notes(job, part, connection),
        failures_url="" if final else f"{kinds.page_address(job)}?show=failed",
        poll_url="" if final else _progress_address(job),
        stop_url="" if final or job.stop_requested else f"{kinds.page_address(job)}stop/",
        final=final,
        id="job-progress",
    )


def progress_of_file(job: Job) -> Progress:
    """Return the progress of writing a file: the rows written, out of about how many."""
    final, done = job.state not in ALIVE, job.checked_rows
    rate = _rate(job, done)
    total = done if job.state == JobState.DONE else max(job.size, done)
    return Progress(
        title=_("Progress"),
        unit=str(kinds.kind_of(job).unit),
        done=done,
        total=total,
        state=JOB_CHIPS[JobState(job.state)],
        rate=rate,
        seconds_left=round((total - done) * 60 / rate) if rate else None,
        started_at=job.started_at,
        notes=_file_notes(job),
        poll_url="" if final else _progress_address(job),
        stop_url="" if final or job.stop_requested else f"{kinds.page_address(job)}stop/",
        final=final,
        id="job-progress",
    )


def _file_notes(job: Job) -> list[str]:
    if job.halt != Halt.NONE:
        return [str(Halt(job.halt).label)]
    is_stuck = job.state == JobState.RUNNING and job.problem == STORE_PROBLEM
    return [_("The store of files does not respond. Trying again.")] if is_stuck else []


def _progress_address(job: Job) -> str:
    return f"{kinds.page_address(job)}progress/"


def _rate(job: Job, done: int) -> float | None:
    if job.started_at is None or not done:
        return None
    seconds = ((job.finished_at or timezone.now()) - job.started_at).total_seconds()
    return done * 60 / max(seconds, 1)


def _notes(job: Job, part: Part | None, connection: Connection) -> list[str]:
    notes = []
    if job.halt != Halt.NONE:
        notes.append(str(Halt(job.halt).label))
    if job.state != JobState.RUNNING:
        return notes
    if job.stop_requested:
        notes.append(_("Stopping. Requests already accepted will finish."))
    if not connection.is_connected:
        notes.append(_("Connection lost. It continues automatically when the tenant is reconnected."))
    if part is None and queries.has_earlier_job(job):
        notes.append(_("Waiting for an earlier import to finish."))
    if part is None and job.blocked_until is not None and job.blocked_until > timezone.now():
        free = quota.next_call_at(connection, Priority.JOBS) if connection.is_connected else job.blocked_until
        notes.append(_no_calls_text(max(free, job.blocked_until)))
    elif part is None and job.reading_since is not None and kinds.kind_of(job).has_requests:
        notes.append(
            ngettext(
                "Loading rights one member at a time: %(n)s so far.",
                "Loading rights one member at a time: %(n)s so far.",
                job.reads,
            )
            % {"n": f"{job.reads:,}"}
        )
    if part is not None and part.state == PartState.READING:
        notes.append(
            _("A response was lost. Checking the member list to see what was applied; this takes about two minutes.")
        )
    queued = queries.intents_of(job).filter(state=State.QUEUED).order_by("due_at")
    intent = part.intent if part is not None else queued.first()
    return notes + (_intent_notes(intent) if intent is not None else [])


def _no_calls_text(until: datetime) -> str:
    return _("No API calls left this hour. It continues at %(at)s.") % {"at": local(until).strftime("%H:%M")}


def _intent_notes(intent: Intent) -> list[str]:
    if (at := send_expected_at(intent)) is not None:
        return [_no_calls_text(at)]
    if intent.state == State.QUEUED and intent.reason == Reason.NOT_SENT:
        return [_("The service cannot be reached. Retrying.")]
    if intent.state == State.ACCEPTED and intent.request_status == "pending":
        return [_("The service is processing an earlier request.")]
    return []


Text = str | Promise
# The most rows shown at once that only a person can settle.
_MAX_UNDECIDED = 50


@dataclass(frozen=True)
class Tab:
    """A tab over the rows, with its number of rows."""

    name: str
    label: Text
    count: int
    href: str
    current: bool


@dataclass
class JobPage:
    """The data of a job's page while it is built: the request, the job, and the template's context."""

    request: TenantRequest
    job: Job
    context: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.context |= {"job": self.job, "chip": job_chip(self.job), "url": self.url}

    @property
    def url(self) -> str:
        return kinds.page_address(self.job)

    @property
    def connection(self) -> Connection:
        return current_connection()


def tabs_of(view: JobPage, counted: Iterable[tuple[str, Text, int]], first_tab: str = "") -> list[Tab]:
    """Return the tabs that have rows, the chosen one and "all". `first_tab` is shown first if it has rows."""
    counted = list(counted)
    first = first_tab if any(str(name) == first_tab and count for name, _label, count in counted) else ""
    show = view.request.GET.get("show", first)
    known = show if show in {str(name) for name, _label, _count in counted} else ""
    return [
        Tab(str(name), label, count, f"{view.url}?show={name}" if name or first else view.url, str(name) == known)
        for name, label, count in counted
        if count or not name or name == known
    ]


def undo_context(job: Job) -> dict[str, Any]:
    """Return the started undo of a job, and the one that waits for its time; None if there is none."""
    undoing = job.undone_by.select_related("tenant", "by").order_by("-id")
    return {
        "undone_by": undoing.filter(started_at__isnull=False).first(),
        "ends_by": undoing.filter(state=JobState.WAITING).first(),
    }


def render_table(view: JobPage, kind: type[JobRows], offered: list[Tab], template: str) -> HttpResponse:
    """Render the rows of the chosen tab."""
    tab = next(tab for tab in offered if tab.current)
    view.context["tabs"] = offered
    rows = filter_rows(Row.objects.filter(job=view.job).select_related("intent"), tab.name)
    names: Any = SimpleLazyObject(lambda: dict(Group.objects.values_list("membergroup_id", "membergroup_name")))
    listed = kind(view.request, rows, total=tab.count, job=view.job, groups=names)
    response: HttpResponse = listed.respond(template, view.context)
    return response


def render_started_job(view: JobPage, kind: type[JobRows], template: str) -> HttpResponse:
    """Render the page of a started job: its progress, then the outcome of each row."""
    job, counts = view.job, queries.count_rows(view.job)
    uncertain = counts.by_state(RowState.UNCERTAIN)
    final = job.state not in ALIVE
    labels: dict[str, Text] = {RowState.SUCCEEDED: _("Done"), RowState.FAILED: _("Not applied")}
    labels |= kinds.kind_of(job).state_labels
    attention = sum(counts.by_state(each) for each in (RowState.FAILED, RowState.UNCERTAIN, RowState.STOPPED))
    offered = tabs_of(view, [
        (ATTENTION, _("Needs attention"), attention + counts.by_action(Action.REFUSED)),
        ("", _("All"), counts.rows),
        (RowState.SUCCEEDED, labels[RowState.SUCCEEDED], counts.by_state(RowState.SUCCEEDED)),
        (RowState.KEPT, _("Unchanged"), counts.by_state(RowState.KEPT)),
        (RowState.FAILED, labels[RowState.FAILED], counts.by_state(RowState.FAILED)),
        (RowState.UNCERTAIN, _("Uncertain"), uncertain),
        ("noted", _("Different from the preview"), queries.count_noted(job) if job.options.get("scheduled") else 0),
        (RowState.PENDING, _("Waiting"), counts.by_state(RowState.PENDING) + counts.by_state(RowState.SENT)),
        (RowState.STOPPED, _("Not sent"), counts.by_state(RowState.STOPPED)),
        (Action.REFUSED, Action.REFUSED.label, counts.by_action(Action.REFUSED)),
        (Action.SAME, _("Unchanged"), counts.by_action(Action.SAME)),
    ], first_tab=ATTENTION if final else "")  # fmt: skip
    retries = job.retries.select_related("tenant").order_by("id")
    undecided = (
        Row.objects.filter(job=job, state=RowState.UNCERTAIN).order_by("line") if uncertain else Row.objects.none()
    )
    view.context |= {
        "counts": counts,
        "progress": progress_of_run(job, counts, view.connection),
        "final": final,
        "again": queries.rows_not_applied(job).count() if final else 0,
        "to_correct": queries.rows_to_correct(job).count() if final else 0,
        "stopped": job.state == JobState.STOPPED,
        "undecided": [(row, words.describe_row(row, job)) for row in undecided],
        "uncertain": uncertain,
        "calls": costs.count_calls_made(job),
        "retries": [(kinds.page_address(each), each.created_at) for each in retries] if final else [],
    }
    return render_table(view, kind, offered, template)
