"""What people do with imports. Each is one transaction with its audit entry; workers are woken after the commit."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils.translation import get_language

from accessapi import limits
from portal.imports import bell, columns, queries, storing
from portal.imports.models import Import, ImportFile, ImportPart, ImportRow
from portal.imports.states import Action, Halt, JobState, PartState, RowState
from portal.intents.actions import stop as stop_intent
from portal.intents.clock import ClockTime
from portal.intents.models import Intent
from portal.intents.record import Asker
from portal.intents.states import State
from tenants import audit


def upload(*, by: Asker, upload: UploadedFile) -> Import:
    """Keep a file and propose its columns. Raises FileFault; then nothing is kept."""
    with transaction.atomic():
        file = storing.store(upload)
        job = _new(by, file, columns=columns.guess(file.headings))
        _record(by, job, "uploaded", {"bytes": file.size})
    return job


def choose_columns(*, by: Asker, job: Import, chosen: Mapping[str, int], default_group: str) -> bool:
    """Take the columns and have the dry run made (again). False: the import has started meanwhile."""
    with transaction.atomic():
        waiting = Import.objects.filter(pk=job.pk, state__in=[JobState.DRAFT, JobState.MAPPED, JobState.CHECKED])
        # A dry run that is under way loses its lease and writes nothing more.
        taken = waiting.update(
            state=JobState.MAPPED,
            columns=dict(chosen),
            default_group=default_group,
            checked_lines=0,
            checked_at=None,
            lease=None,
            due_at=ClockTime(),
        )
        if not taken:
            return False
        columns.remember(job.file.headings, chosen)
        _record(by, job, "checked", {"columns": sorted(chosen)})
        _wake(job)
    return True


def start(*, by: Asker, job: Import) -> bool:
    """Begin to send. False when it was started already, or has nothing to send."""
    with transaction.atomic():
        ready = Import.objects.filter(pk=job.pk, state=JobState.CHECKED)
        if not ready.update(
            state=JobState.RUNNING,
            by=by.user,
            support_session=by.support_session,
            language=get_language() or "en",
            started_at=ClockTime(),
            due_at=ClockTime(),
            part_rows=limits.BULK_MEMBERS_MAX,
            part_bytes=limits.BULK_BODY_MAX,
        ):
            return False
        rows = ImportRow.objects.filter(job=job, state=RowState.CHECKED, action__in=[Action.CREATE, Action.UPDATE])
        count = rows.update(state=RowState.PENDING)
        if job.retry_of_id is not None:
            _take_over(job)
        _record(by, job, "started", {"rows": count})
        _wake(job)
    return True


def _take_over(job: Import) -> None:
    """Mark the rows that this import sends again. Those that another import took meanwhile are left out here."""
    Import.objects.select_for_update(of=("self",)).get(pk=job.retry_of_id)  # it may be going on at this very moment
    mine = ImportRow.objects.filter(job=job, state=RowState.PENDING)
    lines = list(mine.values_list("line", flat=True))
    origin = ImportRow.objects.filter(job_id=job.retry_of_id, line__in=lines)
    queries.not_applied(job.retry_of).filter(line__in=lines).update(retried_in=job)
    elsewhere = origin.exclude(retried_in=job).values_list("line", flat=True)
    # Not to be sent from here either, now or by a retry of this retry.
    mine.filter(line__in=list(elsewhere)).update(
        state=RowState.STOPPED, problems=[["", "retried_elsewhere", {}]], retried_in=job.retry_of
    )


def stop(*, by: Asker, job: Import) -> bool:
    """Send nothing more. What the service has accepted already is followed to its end. False: it was not running."""
    with transaction.atomic():
        running = Import.objects.filter(pk=job.pk, state=JobState.RUNNING, stop_asked=False)
        if not running.update(stop_asked=True, due_at=ClockTime()):
            return False
        _record(by, job, "stopped", {})
        _wake(job)
    # Not under the import's lock: the end of an intent takes both locks, the intent's first.
    for part in ImportPart.objects.filter(job=job, state=PartState.OPEN, intent__state=State.QUEUED):
        for intent in Intent.objects.filter(pk=part.intent_id):
            stop_intent(intent)
    return True


def go_on(*, by: Asker, job: Import) -> bool:
    """Send the rest of a stopped import, in the name of whoever asks. False: it is not stopped."""
    with transaction.atomic():
        stopped = Import.objects.filter(pk=job.pk, state=JobState.STOPPED)
        if not stopped.update(
            state=JobState.RUNNING,
            by=by.user,
            support_session=by.support_session,
            halt=Halt.NONE,
            finished_at=None,
            stop_asked=False,
            due_at=ClockTime(),
        ):
            return False
        rest = ImportRow.objects.filter(job=job, state=RowState.STOPPED, retried_in__isnull=True, problems=[])
        rest.update(state=RowState.PENDING, part=None, position=None)
        _record(by, job, "continued", {})
        _wake(job)
    return True


def retry(*, by: Asker, job: Import) -> Import | None:
    """A new import of the rows that were not applied, checked again against today's members. None: there are none."""
    with transaction.atomic():
        lines = list(queries.not_applied(job).order_by("line").values_list("line", flat=True))
        if not lines or job.state not in (JobState.DONE, JobState.STOPPED):
            return None
        again = _new(by, job.file, columns=job.columns, retry_of=job, lines=lines, default_group=job.default_group)
        Import.objects.filter(pk=again.pk).update(state=JobState.MAPPED, due_at=ClockTime())
        _record(by, again, "retried", {"of": job.pk, "rows": len(lines)})
        _wake(again)
    return again


def decide(*, by: Asker, job: Import, rows: Sequence[int] | None, applied: bool) -> int:
    """A person says what came of uncertain rows: of those named, or of all. How many that settled."""
    with transaction.atomic():
        Import.objects.select_for_update(of=("self",)).get(pk=job.pk)
        uncertain = ImportRow.objects.filter(job=job, state=RowState.UNCERTAIN)
        if rows is not None:
            uncertain = uncertain.filter(pk__in=rows)
        word = "decided_yes" if applied else "decided_no"
        state = RowState.SUCCEEDED if applied else RowState.FAILED
        count = uncertain.update(state=state, problems=[["", word, {}]])
        if count:
            _record(by, job, "decided", {"rows": count, "applied": applied})
    return count


def discard(*, by: Asker, job: Import) -> bool:
    """Delete an import that never started, with its file if nobody else uses it. False: it has started."""
    never_started = (JobState.DRAFT, JobState.MAPPED, JobState.CHECKED, JobState.REFUSED)
    with transaction.atomic():
        held = Import.objects.select_for_update(of=("self",)).filter(pk=job.pk, state__in=never_started).first()
        if held is None:
            return False
        _record(by, job, "discarded", {})
        file_id = held.file_id
        ImportRow.objects.filter(job=held).delete()
        held.delete()
        if not Import.objects.filter(file_id=file_id).exists():
            ImportFile.objects.filter(pk=file_id).delete()
    return True


def downloaded(*, by: Asker, job: Import, rows: int) -> None:
    """Somebody takes the rows that were not applied away, card numbers among them."""
    with transaction.atomic():
        _record(by, job, "downloaded", {"rows": rows})


def _new(by: Asker, file: ImportFile, **values: Any) -> Import:
    return Import.objects.create(
        file=file, by=by.user, support_session=by.support_session, language=get_language() or "en", **values
    )


def _record(by: Asker, job: Import, act: str, after: dict[str, Any]) -> None:
    audit.record(
        tenant=by.tenant,
        by=by.user,
        action=f"import.{act}",
        target=f"import:{job.pk}",
        summary=job.file.name,
        after=after or None,
        support_session=by.support_session,
    )


def _wake(job: Import) -> None:
    job.refresh_from_db()
    bell.after_commit(job)
