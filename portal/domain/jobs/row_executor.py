"""Executor for single rows: `JobKind.submit_row` creates one intent per row, in a separate transaction.

A worker that ends between two rows, or two workers at one step, double nothing. Only a few rows are in progress at a
time: when there are no API calls left, the others wait here and not in the queue that everyone shares.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet

from portal.base.timers.clock import ClockTime
from portal.domain.intents.models import FINAL, Intent, Reason, State
from portal.domain.jobs import kinds, running
from portal.domain.jobs.models import Job, JobState, NextStep, Row, RowState

MAX_UNDER_WAY = 20
_CHECK_AGAIN_AFTER = timedelta(seconds=2)
_ROW_STATES = {State.SUCCEEDED: RowState.SUCCEEDED, State.UNCERTAIN: RowState.UNCERTAIN}


def wait(job: Job) -> timedelta | None:
    """Return how long a job that is to stop waits for its sent rows; None: the next rows can be submitted."""
    for row in _rows_in(job, RowState.SENT).filter(intent__state__in=FINAL).select_related("intent"):
        _settle_row(row)  # in case its notification was lost
    return _CHECK_AGAIN_AFTER if job.stop_requested and _rows_in(job, RowState.SENT).exists() else None


def send(job: Job) -> NextStep:
    """Return whether there are rows to submit."""
    if _next_row_ids(job):
        return NextStep.WORK
    return NextStep.LATER if _rows_in(job, RowState.PENDING, RowState.SENT).exists() else NextStep.NOTHING


def work(job_id: int) -> None:
    """Submit the next rows."""
    job = Job.objects.select_related("by", "tenant__environment", "support_session").get(pk=job_id)
    for row_id in _next_row_ids(job):
        _submit_row(job, row_id)
    Job.objects.filter(pk=job_id, state=JobState.RUNNING).update(due_at=ClockTime() + _CHECK_AGAIN_AFTER)


def on_finished(intent: Intent) -> None:
    """Settle the row of a finished intent. Intents without a row are ignored."""
    row = Row.objects.select_related("job").filter(intent=intent).first()
    if row is not None:
        row.intent = intent
        _settle_row(row)
        running.wake_after_commit(row.job)


def _rows_in(job: Job, *states: RowState) -> QuerySet[Row]:
    return Row.objects.filter(job=job, state__in=states)


def _next_row_ids(job: Job) -> list[int]:
    """Return the next rows that there is room for. Rows that wait for something are last."""
    room = max(MAX_UNDER_WAY - _rows_in(job, RowState.SENT).count(), 0)
    waiting = _rows_in(job, RowState.PENDING).order_by("line")
    ready = list(waiting.filter(problems=[]).values_list("pk", flat=True)[:room])
    return [*ready, *waiting.exclude(problems=[]).values_list("pk", flat=True)[: room - len(ready)]]


def _submit_row(job: Job, row_id: int) -> None:
    """Submit one row, in a separate transaction."""
    with transaction.atomic():
        alive = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, stop_requested=False)
        if not alive.select_for_update(of=("self",), no_key=True):
            return
        row = _rows_in(job, RowState.PENDING).select_for_update(of=("self",)).filter(pk=row_id).first()
        ask = kinds.kind_of(job).submit_row
        if row is None or row.content is None or ask is None:
            return
        result = ask(job, row)
        if isinstance(result, Intent):
            row.state, row.intent, row.problems = RowState.SENT, result, []
        elif isinstance(result, kinds.Skip):
            row.state, row.problems = RowState.FAILED, [[result.field, result.reason_code, result.facts]]
        else:
            row.problems = [[result.field, result.reason_code, {}]]
        row.save(update_fields=["state", "intent", "problems"])


def _settle_row(row: Row) -> None:
    """Set the row's state from its finished intent. A row that was surely not sent can be submitted again."""
    intent = row.intent
    if intent is None or row.state not in (RowState.SENT, RowState.UNCERTAIN):
        return
    mine = Row.objects.filter(pk=row.pk, state=row.state)
    if intent.state == State.CANCELLED and intent.reason == Reason.STOPPED:
        mine.update(state=RowState.STOPPED, intent=None, attempts=F("attempts") + 1)
    else:
        mine.update(state=_ROW_STATES.get(State(intent.state), RowState.FAILED))
