"""Actions on imports that are not common to all jobs.

Each is one transaction with its audit entry. Workers are notified after the commit.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.base.files import file_limits, reading
from portal.base.files.file_limits import FileFault
from portal.base.timers.clock import ClockTime
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, bulk_executor, kinds, queries, undoing
from portal.domain.jobs.kinds import JobKind
from portal.domain.jobs.models import Job, JobState, Row
from portal.domain.people.member_fields import CODE, MEMBER_ID, NAME
from portal.imports import checking, columns, lists, members, sheet_kinds
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
    reason_texts=lists.MEMBER_TEXTS,
    field_label=sheet_kinds.labels_of(KIND),
    can_undo=True,
)


def _record_undo(job: Job, by: Requester) -> None:
    """Record in the audit log that the import is being undone."""
    if job.undo_of is not None:
        actions.record_action(by, job.undo_of, "undone", {"job": job.pk})


IMPORT_UNDO = JobKind(
    name="import_undo",
    permission=Permission.IMPORTS_RUN,
    executor=bulk_executor,
    title_of=lambda job: coded_sentence("job.undo", what=coded_sentence("job.import", file=job.title)),
    decide_rows=bulk_executor.compare_with_lists,
    on_started=_record_undo,
)


def _missing_text(chosen: Collection[str], default_group: str) -> str:
    """Return which required column is missing, if all rows would be refused without it."""
    named = {NAME.name, *sheet_kinds.PART_NAMES} & set(chosen)
    if {CODE.name, MEMBER_ID.name} & set(chosen):
        return ""
    if not named:
        return _("Choose a column for name, member code or member ID.")
    if "group" not in chosen and not default_group:
        return _("Choose a column for the group, or a default group for new members.")
    return ""


MEMBERS = sheet_kinds.SheetKind(
    own_columns=members.COLUMNS,
    name_column=NAME.name,
    checker=members.MemberChecker,
    missing_text=_missing_text,
    purpose="imports.file",
    has_groups=True,
)


def upload(
    *, by: Requester, upload: "UploadedFile[bytes]", job_kind: str = KIND, options: Mapping[str, Any] | None = None
) -> Job:
    """Save a file and propose its columns. Raises FileFault; then nothing is saved."""
    with transaction.atomic():
        file = _store_file(upload, job_kind)
        job = _create_job(by, file, job_kind, columns=columns.guess_columns(job_kind, file.headings), options=options)
        actions.record_action(by, job, "uploaded", {"bytes": file.size})
    return job


def _store_file(upload: "UploadedFile[bytes]", job_kind: str) -> ImportFile:
    """Save a file in the database, encrypted and in pieces, so that any worker can read it. Raises FileFault."""
    kind = sheet_kinds.kind_named(job_kind)
    if (upload.size or 0) > kind.most_bytes:
        raise FileFault("size", mb=kind.most_bytes // 2**20)

    def chunks() -> Iterator[bytes]:
        return upload.chunks(file_limits.CHUNK_BYTES)

    file = ImportFile(
        name=(upload.name or "")[-200:].replace("\x00", ""),
        size=upload.size or 0,
        fingerprint=reading.fingerprint_upload(upload, kind.purpose),
    )
    _find_table(file, kind, chunks)
    for number, chunk in enumerate(upload.chunks(file_limits.CHUNK_BYTES)):
        ImportChunk.objects.create(file=file, number=number, body=chunk)
    return file


def _find_table(
    file: ImportFile,
    kind: sheet_kinds.SheetKind,
    chunks: Callable[[], Iterator[bytes]],
    wanted: reading.Layout | None = None,
) -> None:
    """Find the table of a file, if it has at most the kind's number of rows, and save the file. Raises FileFault."""
    found = reading.inspect_file(chunks, columns.heading_finder(kind), wanted)
    if kind.most_rows < file_limits.MAX_ROWS:
        _headings, lines = reading.open_rows(found.layout, chunks)
        if sum(1 for _line in lines) > kind.most_rows:
            raise FileFault("rows", most=kind.most_rows)
    layout = found.layout
    file.kind, file.encoding, file.delimiter = layout.kind, layout.encoding, layout.delimiter
    file.more = dataclasses.asdict(found)
    file.headings, file.sample = file.more.pop("headings"), file.more.pop("sample")
    file.save()


# The states in which a person may still choose columns.
BEFORE_START = (JobState.DRAFT, JobState.MAPPED, JobState.CHECKED)


def read_again(*, by: Requester, job: Job, layout: reading.Layout) -> bool:
    """Read the file in another way and propose its columns again. Return False if the import has already started.

    Raises FileFault; then nothing changes.
    """
    with transaction.atomic():
        file = ImportFile.objects.select_for_update().get(pk=job.sheet.file_id)
        again = Job.objects.filter(pk=job.pk, state__in=BEFORE_START).exclude(sheet__lines__isnull=False)
        if not again.update(state=JobState.DRAFT, lease=None, due_at=None, checked_at=None, checked_rows=0):
            return False
        _find_table(file, sheet_kinds.kind_of(job), lists.chunks_of(file), layout)
        guessed = columns.guess_columns(job.kind, file.headings)
        Sheet.objects.filter(job=job).update(columns=guessed, options={}, findings={})
        Row.objects.filter(job=job).delete()
        actions.record_action(by, job, "reread", {})
    return True


def choose_columns(
    *,
    by: Requester,
    job: Job,
    chosen: Mapping[str, int],
    default_group: str = "",
    rights: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> bool:
    """Save the chosen columns and start the check (again). Return False if the import has already started.

    `rights`: where new members get their rights from. With `rights`, starting the import needs the permission to change
    rights. `options`: see `Sheet`.
    """
    with transaction.atomic():
        waiting = Job.objects.filter(pk=job.pk, state__in=BEFORE_START)
        # A check that is already running loses its lease and writes nothing more.
        permission = Permission.RIGHTS_EDIT if rights else kinds.kind_of(job).permission
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
        Sheet.objects.filter(job=job).update(**sheet, options=dict(options or {}))
        columns.save_choices(job.kind, job.sheet.file.headings, chosen)
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
            by, sheet.file, job.kind, retry_of=job, columns=sheet.columns, lines=lines,
            default_group=sheet.default_group, rights=sheet.rights, sheet_options=sheet.options,
        )  # fmt: skip
        Job.objects.filter(pk=again.pk).update(state=JobState.MAPPED, due_at=ClockTime(), size=len(lines))
        actions.record_action(by, again, "retried", {"of": job.pk, "rows": len(lines)})
        actions.wake(again)
    return again


def undo(*, by: Requester, job: Job) -> Job | None:
    """Prepare the deletion of the members that an import created, and the former values of those that it changed.

    None if nothing is left to undo.
    """
    return undoing.undo_creations(by=by, job=job, kind=IMPORT_UNDO.name)


def discard(*, by: Requester, job: Job) -> bool:
    """Delete an import that was never started, and its file if no other import uses it. False if it has started."""
    with transaction.atomic():
        file_id = job.sheet.file_id
        if not actions.discard(by=by, job=job):
            return False
        delete_unused_files([file_id])
    return True


def delete_unused_files(file_ids: Collection[int]) -> None:
    """Delete those of the files that no import uses."""
    ImportFile.objects.filter(pk__in=file_ids, sheets=None).delete()


def _create_job(
    by: Requester,
    file: ImportFile,
    job_kind: str,
    *,
    columns: Mapping[str, int],
    lines: Sequence[int] | None = None,
    default_group: str = "",
    rights: Mapping[str, str] | None = None,
    retry_of: Job | None = None,
    options: Mapping[str, Any] | None = None,
    sheet_options: Mapping[str, str] | None = None,
) -> Job:
    permission = Permission.RIGHTS_EDIT if rights else kinds.kind_named(job_kind).permission
    job = actions.create_job(
        by=by, kind=job_kind, permission=permission, title=file.name, retry_of=retry_of, options=dict(options or {})
    )
    sheet = {"file": file, "columns": dict(columns), "default_group": default_group, "rights": dict(rights or {})}
    Sheet.objects.create(
        job=job, lines=None if lines is None else list(lines), options=dict(sheet_options or {}), **sheet
    )
    return job
