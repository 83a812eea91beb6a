"""What people do with lists of expected guests. Each is one transaction with its audit entry."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Q

from portal.core.intents.actions import stop as stop_intent
from portal.core.intents.models import Intent
from portal.core.intents.record import Asker
from portal.core.intents.states import Reason, State
from portal.core.timers.clock import ClockTime
from portal.expected import bell, checking, erasing
from portal.expected.models import ExpectedList, ExpectedRow, ListState, RowState, Verdict
from portal.expected.reading import stored
from tenants import audit
from tenants.wording import say


def upload(*, by: Asker, file: UploadedFile, mail: bool) -> ExpectedList:
    """Keep a list and what its dry run found. Raises FileFault; then nothing is kept."""
    sheet = checking.sheet(file)
    found = checking.check(sheet, mail=mail)
    with transaction.atomic():
        erasing.drop_unstarted()
        job = ExpectedList.objects.create(
            name=(file.name or "")[-200:].replace("\x00", ""),
            fingerprint=sheet.fingerprint,
            headings=sheet.headings,
            by=by.user,
            support_session=by.support_session,
            mail=mail,
            last_end=checking.last_end(found),
        )
        ExpectedRow.objects.bulk_create(_row(job, each) for each in found)
        _record(by, job, "uploaded", {"rows": len(found)})
    return job


def _row(job: ExpectedList, found: checking.Found) -> ExpectedRow:
    order = stored(found.row.order) if found.row.order else None
    content = {"cells": found.row.cells, "order": order}
    return ExpectedRow(
        job=job, line=found.row.line, verdict=found.verdict, content=content, problems=found.problems, marks=found.marks
    )


def start(*, by: Asker, job: ExpectedList, with_doubles: bool) -> bool:
    """Begin to issue. False: it was started already, or has nothing to issue; then nothing changed."""
    wanted = Q(verdict=Verdict.READY) | (Q(verdict=Verdict.DOUBLE) if with_doubles else Q(pk=None))
    with transaction.atomic():
        rows = ExpectedRow.objects.filter(wanted, job=job, state=RowState.NONE)
        ready = ExpectedList.objects.filter(pk=job.pk, state=ListState.CHECKED, erased_at=None)
        if not rows.exists() or not ready.update(
            state=ListState.RUNNING,
            by=by.user,
            support_session=by.support_session,
            with_doubles=with_doubles,
            started_at=ClockTime(),
            due_at=ClockTime(),
        ):
            return False
        count = rows.update(state=RowState.PENDING)
        ExpectedRow.objects.filter(job=job, verdict=Verdict.DOUBLE, state=RowState.NONE).update(state=RowState.LEFT_OUT)
        _record(by, job, "started", {"rows": count, "doubles": with_doubles})
        bell.after_commit(job)
    return True


def stop(*, by: Asker, job: ExpectedList) -> bool:
    """Send nothing more; what has left is followed to its end. False: it was not running."""
    with transaction.atomic():
        running = ExpectedList.objects.filter(pk=job.pk, state=ListState.RUNNING, stop_asked=False)
        if not running.update(stop_asked=True, due_at=ClockTime()):
            return False
        _record(by, job, "stopped", {})
        bell.after_commit(job)
    for intent in Intent.objects.filter(visit__in=_visits(job), state=State.QUEUED):
        stop_intent(intent)
    return True


def go_on(*, by: Asker, job: ExpectedList) -> bool:
    """Issue what a stopped list left, in the name of whoever asks. False: it is not stopped."""
    with transaction.atomic():
        stopped = ExpectedList.objects.filter(pk=job.pk, state=ListState.STOPPED, erased_at=None)
        if not stopped.update(
            state=ListState.RUNNING,
            by=by.user,
            support_session=by.support_session,
            stop_asked=False,
            finished_at=None,
            due_at=ClockTime(),
        ):
            return False
        unsent = Q(visit__intent__state=State.CANCELLED, visit__intent__reason=Reason.STOPPED)
        for row in ExpectedRow.objects.filter(unsent, job=job, state=RowState.ASKED):
            # Surely not sent: it may be asked for once more, under a name of its own.
            ExpectedRow.objects.filter(pk=row.pk).update(state=RowState.PENDING, visit=None, attempt=row.attempt + 1)
        ExpectedRow.objects.filter(job=job, state=RowState.LEFT_OUT, problems__contains=[["", "stopped", {}]]).update(
            state=RowState.PENDING, problems=[]
        )
        _record(by, job, "continued", {})
        bell.after_commit(job)
    return True


def discard(*, by: Asker, job: ExpectedList) -> bool:
    """Delete a list that never started. False: it has started, and is kept as a record."""
    with transaction.atomic():
        held = ExpectedList.objects.select_for_update(of=("self",)).filter(pk=job.pk, state=ListState.CHECKED).first()
        if held is None:
            return False
        _record(by, job, "discarded", {})
        held.delete()
    return True


def downloaded(*, by: Asker, job: ExpectedList, rows: int) -> None:
    """Somebody takes the rows that were not issued away."""
    with transaction.atomic():
        _record(by, job, "downloaded", {"rows": rows})


def _visits(job: ExpectedList) -> Any:
    return ExpectedRow.objects.filter(job=job, visit__isnull=False).values("visit")


def _record(by: Asker, job: ExpectedList, act: str, after: dict[str, Any]) -> None:
    """Without the file's name: nothing is ever erased from the trail, and files are called after people."""
    audit.record(
        tenant=by.tenant,
        by=by.user,
        action=f"expected.{act}",
        target=f"expected:{job.pk}",
        summary=say(f"expected.{act}"),
        after=after or None,
        support_session=by.support_session,
    )
