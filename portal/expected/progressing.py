"""What a list costs, and how far it is."""

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.core.budget.outlook import Outlook, minutes_within
from portal.core.budget.priorities import Priority
from portal.core.intents.queries import goes_on_at
from portal.core.ui.progress import Progress
from portal.core.ui.times import local
from portal.expected import queries
from portal.expected.models import ExpectedList, ListState
from portal.expected.queries import Counts


def minutes(calls: int, hour: Outlook | None) -> int | None:
    """About how long so many calls take within the hour's budget; None without a connection."""
    return None if hour is None else max(minutes_within(hour, calls, Priority.JOBS), 1 if calls else 0)


def of(job: ExpectedList, found: Counts, hour: Outlook | None) -> Progress:
    """The progress of a list that was started. `hour` is what is left of the tenant's calls, None without any."""
    final = job.state != ListState.RUNNING
    address = [job.tenant.slug, job.pk]
    return Progress(
        title=_("Expected guests"),
        unit=_("codes"),
        done=found.settled,
        total=found.to_send,
        state={ListState.DONE: "done", ListState.STOPPED: "stopped"}.get(ListState(job.state), "running"),
        failed=found.failed,
        uncertain=found.uncertain,
        rate=_rate(job, found.settled),
        calls_left=None if final else found.waiting,
        minutes_left=None if final else minutes(found.waiting, hour),
        started_at=job.started_at,
        notes=[] if final else _notes(job, connected=hour is not None),
        poll_url="" if final else reverse("guests:expected_progress", args=address),
        stop_url="" if final or job.stop_asked else reverse("guests:expected_stop", args=address),
        final=final,
        id="expected-progress",
    )


def _rate(job: ExpectedList, done: int) -> float | None:
    if job.started_at is None or not done:
        return None
    seconds = ((job.finished_at or timezone.now()) - job.started_at).total_seconds()
    return done * 60 / max(seconds, 1)


def _notes(job: ExpectedList, *, connected: bool) -> list[str]:
    notes = []
    if job.stop_asked:
        notes.append(_("Stopping. What has left already is followed to its end."))
    if not connected:
        notes.append(_("The connection is lost. It goes on by itself once the tenant is connected again."))
    held = queries.held_up(job)
    if held is not None and (at := goes_on_at(held)) is not None:
        notes.append(_("The hour's calls are used up. It goes on at %(at)s.") % {"at": f"{local(at):%H:%M}"})
    return notes
