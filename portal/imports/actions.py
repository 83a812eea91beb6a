"""Actions on imports that are not common to all jobs.

Each is one transaction with its audit entry. Workers are notified after the commit.
"""

from collections.abc import Mapping, Sequence

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.urls import reverse

from portal.base.files import file_limits, reading
from portal.base.files.file_limits import FileFault
from portal.base.timers.clock import ClockTime
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, bulk_executor, queries
from portal.domain.jobs.kinds import JobKind
from portal.domain.jobs.models import Job, JobState
from portal.imports import checking, columns, lists
from portal.imports.models import KIND, ImportChunk, ImportFile, Sheet
from tenants.roles import Permission
from tenants.sentences import coded_sentence

IMPORT = JobKind(
    name=KIND,
    permission=Permission.IMPORTS_RUN,
    executor=bulk_executor,
    family=KIND,
    title_of=lambda job: coded_sentence("job.import", file=job.title),
    page_address=lambda job: reverse("imports:page", args=[job.tenant.slug, job.pk]),
    check=checking.check,
    reason_texts=lists.ROW_PROBLEMS,
)


def upload(*, by: Requester, upload: "UploadedFile[bytes]") -> Job:
    """Save a file and propose its columns. Raises FileFault; then nothing is saved."""
    with transaction.atomic():
        file = _store_file(upload)
        job = _create_job(by, file, columns=columns.guess_columns(file.headings))
        actions.record_action(by, job, "uploaded", {"bytes": file.size})
    return job


def _store_file(upload: "UploadedFile[bytes]") -> ImportFile:
    """Save a file in the database, encrypted and in pieces, so that any worker can read it. Raises FileFault."""
    if (upload.size or 0) > file_limits.MAX_FILE_BYTES:
        raise FileFault("size")
    shape = reading.inspect_file(lambda: upload.chunks(file_limits.CHUNK_BYTES))
    file = ImportFile.objects.create(
        name=(upload.name or "")[-200:].replace("\x00", ""),
        size=upload.size or 0,
        fingerprint=reading.fingerprint_upload(upload, "imports.file"),
        kind=shape.kind,
        encoding=shape.encoding,
        delimiter=shape.delimiter,
        headings=shape.headings,
        sample=shape.sample,
    )
    for number, chunk in enumerate(upload.chunks(file_limits.CHUNK_BYTES)):
        ImportChunk.objects.create(file=file, number=number, body=chunk)
    return file


def choose_columns(
    *, by: Requester, job: Job, chosen: Mapping[str, int], default_group: str, rights: Mapping[str, str] | None = None
) -> bool:
    """Save the chosen columns and start the check (again). Return False if the import has already started.

    `rights`: where new members get their rights from. With `rights`, starting the import needs the permission to change
    rights.
    """
    with transaction.atomic():
        waiting = Job.objects.filter(pk=job.pk, state__in=[JobState.DRAFT, JobState.MAPPED, JobState.CHECKED])
        # A check that is already running loses its lease and writes nothing more.
        permission = Permission.RIGHTS_EDIT if rights else Permission.IMPORTS_RUN
        taken = waiting.update(
            state=JobState.MAPPED,
            checked_rows=0,
            checked_at=None,
            lease=None,
            due_at=ClockTime(),
            permission=permission,
        )
        if not taken:
            return False
        sheet = {"columns": dict(chosen), "default_group": default_group, "rights": dict(rights or {})}
        Sheet.objects.filter(job=job).update(**sheet)
        columns.save_choices(job.sheet.file.headings, chosen)
        actions.record_action(by, job, "checked", {"columns": sorted(chosen)})
        actions.wake(job)
    return True


def retry(*, by: Requester, job: Job) -> Job | None:
    """Create an import of the rows that were surely not applied, checked again from the file.

    None if there are none.
    """
    with transaction.atomic():
        lines = list(queries.rows_not_applied(job).order_by("line").values_list("line", flat=True))
        if not lines or job.state not in (JobState.DONE, JobState.STOPPED):
            return None
        sheet = job.sheet
        again = _create_job(
            by, sheet.file, retry_of=job, columns=sheet.columns, lines=lines,
            default_group=sheet.default_group, rights=sheet.rights,
        )  # fmt: skip
        Job.objects.filter(pk=again.pk).update(state=JobState.MAPPED, due_at=ClockTime(), size=len(lines))
        actions.record_action(by, again, "retried", {"of": job.pk, "rows": len(lines)})
        actions.wake(again)
    return again


def discard(*, by: Requester, job: Job) -> bool:
    """Delete an import that was never started, and its file if no other import uses it. False if it has started."""
    with transaction.atomic():
        file_id = job.sheet.file_id
        if not actions.discard(by=by, job=job):
            return False
        if not Sheet.objects.filter(file_id=file_id).exists():
            ImportFile.objects.filter(pk=file_id).delete()
    return True


def _create_job(
    by: Requester,
    file: ImportFile,
    *,
    columns: Mapping[str, int],
    lines: Sequence[int] | None = None,
    default_group: str = "",
    rights: Mapping[str, str] | None = None,
    retry_of: Job | None = None,
) -> Job:
    permission = Permission.RIGHTS_EDIT if rights else Permission.IMPORTS_RUN
    job = actions.create_job(by=by, kind=KIND, permission=permission, title=file.name, retry_of=retry_of)
    sheet = {"file": file, "columns": dict(columns), "default_group": default_group, "rights": dict(rights or {})}
    Sheet.objects.create(job=job, lines=None if lines is None else list(lines), **sheet)
    return job
