"""How far a dry run or a started job is, for the progress component."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.core.budget import outlook
from portal.core.budget.priorities import Priority
from portal.core.intents.models import Intent
from portal.core.intents.queries import goes_on_at
from portal.core.intents.states import Reason, State
from portal.core.jobs import advancing, costs, kinds, queries
from portal.core.jobs.models import Job, Part
from portal.core.jobs.queries import Counts
from portal.core.jobs.states import ALIVE, Halt, JobState, PartState, RowState
from portal.core.ui.progress import Progress
from portal.core.ui.times import local
from tenants.connections.service import current_connection
from tenants.models import Connection

_CHIPS = {
    JobState.MAPPED: "running",
    JobState.WAITING: "waiting",
    JobState.RUNNING: "running",
    JobState.DONE: "done",
    JobState.STOPPED: "stopped",
}


def of(job: Job) -> Progress:
    """How far a job is whose rows are found out, or that was started."""
    if job.state == JobState.MAPPED:
        return of_check(job)
    return of_run(job, queries.counts(job), current_connection())


def of_check(job: Job) -> Progress:
    """The dry run: nobody knows how many rows a file has before it is read, but for one that brings chosen rows again
    (`size`).
    """
    return Progress(
        title=_("Check"),
        unit=_("rows checked; nothing is sent"),
        done=job.looked_at,
        total=job.size or max(job.looked_at, 1),
        poll_url=_poll(job),
        poll_seconds=1,
        id="job-progress",
    )


def of_run(job: Job, counts: Counts, connection: Connection) -> Progress:
    """Sending: rows with an outcome of all rows to be sent."""
    final = job.state not in ALIVE
    done = counts.settled
    left = costs.left(job, connection) if not final else None
    part = Part.objects.filter(job=job).exclude(state=PartState.CLOSED).select_related("intent").first()
    idle = part is None and not done and not counts.state(RowState.SENT)
    return Progress(
        title=_("Progress"),
        unit=str(kinds.of(job).unit),
        done=done,
        total=counts.to_send,
        state="waiting" if idle and not final else _CHIPS[JobState(job.state)],
        failed=counts.state(RowState.FAILED),
        uncertain=counts.state(RowState.UNCERTAIN),
        rate=_rate(job, done),
        calls_left=left.calls if left else None,
        minutes_left=left.minutes if left else None,
        started_at=job.started_at,
        notes=_notes(job, part, connection),
        failures_url="" if final else f"{kinds.page(job)}?show=failed",
        poll_url="" if final else _poll(job),
        stop_url="" if final or job.stop_asked else f"{kinds.page(job)}stop/",
        final=final,
        id="job-progress",
    )


def _poll(job: Job) -> str:
    return f"{kinds.page(job)}progress/"


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
    if job.stop_asked:
        notes.append(_("Stopping. Requests already accepted will finish."))
    if not connection.is_connected:
        notes.append(_("Connection lost. It continues automatically when the tenant is reconnected."))
    if part is None and advancing.ahead(job):
        notes.append(_("Waiting for an earlier import to finish."))
    if part is None and job.blocked_until is not None and job.blocked_until > timezone.now():
        free = outlook.goes_on_at(connection, Priority.JOBS) if connection.is_connected else job.blocked_until
        notes.append(_used_up(max(free, job.blocked_until)))
    elif part is None and job.reading_since is not None and kinds.of(job).sends:
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
    queued = queries.intents(job).filter(state=State.QUEUED).order_by("due_at")
    intent = part.intent if part is not None else queued.first()
    return notes + (_of_intent(intent) if intent is not None else [])


def _used_up(until: datetime) -> str:
    return _("No API calls left this hour. It continues at %(at)s.") % {"at": local(until).strftime("%H:%M")}


def _of_intent(intent: Intent) -> list[str]:
    if (at := goes_on_at(intent)) is not None:
        return [_used_up(at)]
    if intent.state == State.QUEUED and intent.reason == Reason.NOT_SENT:
        return [_("The service cannot be reached. Retrying.")]
    if intent.state == State.ACCEPTED and intent.request_status == "pending":
        return [_("The service is processing an earlier request.")]
    return []
