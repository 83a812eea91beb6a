"""A list of expected guests as a kind of job: uploaded here, with its dry run; the rest is what all jobs do."""

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.core.intents.record import Asker
from portal.core.jobs import acts, rowstore
from portal.core.jobs.kinds import Kind, Told
from portal.core.jobs.models import Job
from portal.core.jobs.rowstore import NewRow
from portal.core.jobs.states import JobState, RowState
from portal.core.timers.clock import ClockTime
from portal.expected import checking, erasing, sending, words
from portal.expected.queries import KIND, number
from portal.expected.reading import stored
from tenants.roles import Permission
from tenants.wording import say


def _told(job: Job, act: str) -> Told:
    """Without the file's name: nothing is ever erased from the trail, and files are called after people."""
    facts = {"doubles": bool(job.options.get("doubles"))} if act == "started" else {}
    return Told(f"expected.{act}", f"expected:{number(job)}", say(f"expected.{act}"), facts)


EXPECTED = Kind(
    name=KIND,
    permission=Permission.GUESTS_DESK,
    family=KIND,
    told=_told,
    page=lambda job: reverse("guests:expected_page", args=[job.tenant.slug, number(job)]),
    words=words.ROWS,
    label=words.label,
    ask=sending.ask,
    reasons=words.reasons,
    unit=_("codes"),
    labels={RowState.SUCCEEDED: _("Issued"), RowState.FAILED: _("Not issued")},
)


def upload(*, by: Asker, file: UploadedFile, mail: bool) -> Job:
    """Keep a list and what its dry run found. Raises FileFault; then nothing is kept."""
    sheet = checking.sheet(file)
    found = checking.check(sheet, mail=mail)
    with transaction.atomic():
        erasing.drop_unstarted()
        job = acts.new(
            by=by,
            kind=KIND,
            title=(file.name or "")[-200:].replace("\x00", ""),
            options={"mail": mail, "fingerprint": sheet.fingerprint.hex()},
            headings=sheet.headings,
            last_end=checking.last_end(found),
            size=len(found),
            state=JobState.CHECKED,
            checked_at=ClockTime(),
        )
        rowstore.insert(job, [_row(each) for each in found])
        acts.record(by, job, "uploaded", {"rows": len(found)})
    return job


def _row(found: checking.Found) -> NewRow:
    order = stored(found.row.order) if found.row.order else None
    content = {"cells": found.row.cells, "order": order, "marks": found.marks}
    return NewRow(found.row.line, found.action, "", content, found.problems, found.row.notes)
