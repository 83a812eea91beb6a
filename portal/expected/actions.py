"""Lists of expected guests as a kind of job: upload with a dry run, requests row by row, erasure with the visits.

Everything else is common to all jobs.
"""

from datetime import datetime, timedelta

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.base.timers.clock import ClockTime
from portal.domain.budget.priorities import Priority
from portal.domain.intents.models import Intent
from portal.domain.intents.nonces import Nonce
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, row_executor
from portal.domain.jobs.kinds import AuditDescription, JobKind, Skip, Wait
from portal.domain.jobs.models import Job, JobState, Row, RowState
from portal.domain.visits.models import Visit
from portal.expected import lists
from portal.expected.checking import GUESTS, order_from_json
from portal.expected.lists import KIND, list_number
from portal.guests.issuing import CodeClash, issue_codes
from portal.imports import actions as imports
from portal.imports import checking
from portal.imports.columns import usual_name_order
from portal.imports.lists import doubt_texts, find_date_order
from portal.imports.models import Sheet
from tenants.roles import Permission
from tenants.sentences import coded_sentence

# A list that was not started within this time is deleted.
_UNSTARTED = timedelta(days=7)


def submit_row(job: Job, row: Row) -> Intent | Skip | Wait:
    """Record the request for a row's code. List, line and attempt form its nonce, so that it is sent once."""
    try:
        [visit] = issue_codes(
            orders=[order_from_json(row.content["order"])],
            by=Requester(job.tenant, job.by, job.support_session),
            nonce=Nonce(f"expected:{list_number(job)}:{row.line}:{row.attempts}"),
            confirmed=_confirmed(job, row),
            priority=Priority.JOBS,
            inline=False,
        )
    except CodeClash as clash:
        return Wait("waits", field="name") if clash.pending else Skip("appeared", field="name")
    if visit.intent is None:  # every issued visit has an intent
        raise ValueError("the visit was not asked for")
    return visit.intent


def _confirmed(job: Job, row: Row) -> list[str]:
    """Return the possible duplicates that staff confirmed: those of the dry run, and visits of this list."""
    if not job.options.get("doubles"):
        return []
    requested = Row.objects.filter(job=job, intent__isnull=False)
    own = Visit.objects.filter(intent__in=requested.values("intent")).values_list("pk", flat=True)
    return [str(pk) for pk in (*row.content["marks"], *own)]


def erase_before(before: datetime) -> None:
    """Erase the lists of the tenant in scope whose last guest left, or that were uploaded, before that moment."""
    jobs = Job.objects.filter(kind=KIND, erased_at=None).exclude(state=JobState.RUNNING)
    over = jobs.annotate(ends=Coalesce("last_end", "created_at")).filter(ends__lt=before, created_at__lt=before)
    ids = list(over.values_list("pk", flat=True))
    _delete_files(ids)
    Row.objects.filter(job__in=ids).update(content=None, problems=[], notes=[])
    Job.objects.filter(pk__in=ids).update(erased_at=ClockTime(), title="", headings=None)


def delete_unstarted() -> None:
    """Delete old lists of the tenant in scope that were never started."""
    old = ClockTime() - _UNSTARTED
    unstarted = [*imports.BEFORE_START, JobState.REFUSED]
    ids = list(Job.objects.filter(kind=KIND, state__in=unstarted, created_at__lt=old).values_list("pk", flat=True))
    _delete_files(ids)
    Job.objects.filter(pk__in=ids).delete()


def _delete_files(job_ids: list[int]) -> None:
    sheets = Sheet.objects.filter(job__in=job_ids)
    files = list(sheets.values_list("file_id", flat=True))
    sheets.delete()
    imports.delete_unused_files(files)


def _audit_entry(job: Job, action: str) -> AuditDescription:
    """Return the audit entry without the file's name, which may contain a person's name and could never be erased."""
    facts = {"doubles": bool(job.options.get("doubles"))} if action == "started" else {}
    code = f"expected.{action}"
    return AuditDescription(code, f"expected:{list_number(job)}", coded_sentence(code), facts)


GUEST_LIST_KIND = JobKind(
    name=KIND,
    permission=Permission.GUESTS_DESK,
    executor=row_executor,
    family=KIND,
    describe_for_audit=_audit_entry,
    page_address=lambda job: reverse("guests:expected_page", args=[job.tenant.slug, list_number(job)]),
    check=checking.check,
    reason_texts=lists.PROBLEM_TEXTS,
    field_label=GUESTS.label_of,
    submit_row=submit_row,
    describe_row=lists.row_reasons,
    unit=_("codes"),
    state_labels={RowState.SUCCEEDED: _("Issued"), RowState.FAILED: _("Not issued")},
)


def upload(*, by: Requester, file: "UploadedFile[bytes]", mail: bool) -> Job:
    """Save a list, and check it at once if its columns are clear. Raises FileFault; then nothing is saved."""
    with transaction.atomic():
        delete_unstarted()
        job = imports.upload(by=by, upload=file, job_kind=KIND, options={"mail": mail})
        sheet = job.sheet
        is_clear = not GUESTS.missing_text(sheet.columns, "") and not doubt_texts(sheet.file)
        date_order = find_date_order(job, sheet.columns) if is_clear else None
        if date_order is None:
            return job
        options = {"date_order": date_order, "name_order": usual_name_order(sheet.file.headings, sheet.columns)}
        imports.choose_columns(by=by, job=job, chosen=sheet.columns, options=options)
    check_at_once(job)
    return job


def check_at_once(job: Job) -> None:
    """Check a list without waiting for a worker: it has few rows, and a guest may be waiting."""
    checking.check(job.pk)


def discard(*, by: Requester, job: Job) -> bool:
    """Delete a list that was never started, with its file. Return False if it has started."""
    if not Sheet.objects.filter(job=job).exists():
        return actions.discard(by=by, job=job)
    return imports.discard(by=by, job=job)
