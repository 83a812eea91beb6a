"""The one step of a running list: ask for some codes, see what came of those before, finish. Any number of times.

Each row is one intent of its own, named by list, line and attempt: a worker that dies between two rows, or a step that
two workers take at once, doubles nothing. Only a few are under way at a time, so that an hour without calls leaves the
rest waiting here and not in the queue of everybody's work.
"""

from datetime import timedelta

from django.db import transaction

from portal.core.budget.priorities import Priority
from portal.core.intents.nonces import Nonce
from portal.core.intents.record import Asker
from portal.core.intents.states import UNDER_WAY
from portal.core.timers.clock import ClockTime
from portal.core.visits.models import Preset
from portal.expected.models import ExpectedList, ExpectedRow, ListState, RowState
from portal.expected.reading import restored
from portal.guests.clashes import Clash
from portal.guests.issuing import issue

AT_ONCE = 20
_LOOK_AGAIN = timedelta(seconds=2)
# On a row whose name has a code under way: whether that one comes to life must be known first.
WAITS = ["name", "waits", {}]


def advance(list_id: int) -> None:
    """One step. Nothing when the list is not running."""
    running = ExpectedList.objects.filter(pk=list_id, state=ListState.RUNNING)
    job = running.select_related("by", "tenant__environment", "support_session").first()
    if job is None:
        return
    if job.stop_asked:
        _leave_out_the_rest(job)
    else:
        presets = {preset.pk: preset for preset in Preset.objects.all()}
        for row_id in _next(job):
            _ask(job, row_id, presets)
    _close(job)


def _under_way(job: ExpectedList) -> int:
    return ExpectedRow.objects.filter(job=job, state=RowState.ASKED, visit__intent__state__in=UNDER_WAY).count()


def _next(job: ExpectedList) -> list[int]:
    room = max(AT_ONCE - _under_way(job), 0)
    waiting = ExpectedRow.objects.filter(job=job, state=RowState.PENDING).order_by("line")
    blocked = waiting.filter(problems__contains=[WAITS])
    ready = list(waiting.exclude(problems__contains=[WAITS]).values_list("pk", flat=True)[:room])
    return [*ready, *blocked.values_list("pk", flat=True)[: room - len(ready)]]


def _ask(job: ExpectedList, row_id: int, presets: dict[int, Preset]) -> None:
    """Ask for the code of one row, in a transaction of its own. A code of the same name under way is waited for."""
    with transaction.atomic():
        if not ExpectedList.objects.select_for_update(of=("self",), no_key=True).filter(
            pk=job.pk, state=ListState.RUNNING, stop_asked=False
        ):
            return
        waiting = ExpectedRow.objects.select_for_update(of=("self",)).filter(pk=row_id, state=RowState.PENDING)
        row = waiting.first()
        if row is None or row.content is None:
            return
        try:
            visits = issue(
                orders=[restored(row.content["order"], presets)],
                by=Asker(job.tenant, job.by, job.support_session),
                nonce=Nonce(f"expected:{job.pk}:{row.line}:{row.attempt}"),
                confirmed=_confirmed(job, row),
                priority=Priority.JOBS,
                inline=False,
            )
        except Clash as clash:
            told = [each for each in row.problems if each != WAITS]
            if clash.pending:
                waiting.update(problems=[*told, WAITS])
            else:
                waiting.update(state=RowState.LEFT_OUT, problems=[["name", "appeared", {}]])
            return
        waiting.update(state=RowState.ASKED, visit=visits[0], problems=[each for each in row.problems if each != WAITS])


def _confirmed(job: ExpectedList, row: ExpectedRow) -> list[str]:
    """The doubles that somebody saw and wanted: those of the dry run, and rows of this very list."""
    if not job.with_doubles:
        return []
    own = ExpectedRow.objects.filter(job=job, visit__isnull=False).values_list("visit", flat=True)
    return [str(pk) for pk in (*row.marks, *own)]


def _leave_out_the_rest(job: ExpectedList) -> None:
    rest = ExpectedRow.objects.filter(job=job, state=RowState.PENDING)
    rest.update(state=RowState.LEFT_OUT, problems=[["", "stopped", {}]])


def _close(job: ExpectedList) -> None:
    """Finish when nothing waits and nothing is under way; look again otherwise."""
    waiting = ExpectedRow.objects.filter(job=job, state=RowState.PENDING).exists()
    running = ExpectedList.objects.filter(pk=job.pk, state=ListState.RUNNING)
    if waiting or _under_way(job):
        running.update(due_at=ClockTime() + _LOOK_AGAIN)
        return
    state = ListState.STOPPED if job.stop_asked else ListState.DONE
    running.filter(stop_asked=job.stop_asked).update(state=state, finished_at=ClockTime(), due_at=None)
