"""Create reports in workers, run their schedules, send mails about them, and delete old ones.

A worker writes a report's lines encrypted to the store, then the page's lines, the PDF and the workbook. Opening or
downloading a report needs no more work. A report is never created again, so everyone sees what was sent.

A schedule creates the report of its last period exactly once, then notifies the recipients. After missed runs, only the
latest period is created automatically. The others are counted in the report and can be requested. Permissions are
checked when mails are sent: people without the role or permission get none.

Reports are kept as long as the log. Files with guests' names are deleted with the guests' data.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override

from portal.base.files.writing import XLSX_TYPE
from portal.base.storage import store
from portal.base.storage.models import StoredFile
from portal.base.timers.clock import ClockTime, database_now, scaled_seconds
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.base.ui.times import TOKYO, local
from portal.domain.notifications import mailing
from portal.domain.notifications.mailing import DeliveryOutcome
from portal.domain.notifications.models import State
from portal.reports import kinds
from portal.reports.content import CellValue, ReportHead, TableLine, moment_text, period_of_days
from portal.reports.models import Every, Report, Schedule, Sending
from tenants import audit
from tenants.access import access_to
from tenants.models import Tenant, User, current_tenant
from tenants.sentences import coded_sentence

MAX_TRIES = 5
# The most lines of each table on a page; the files have all lines.
MAX_PAGE_LINES = 50
_RETRY_AFTER = timedelta(minutes=6)
# The answer of a sending to a person who may no longer see the report.
NO_PERMISSION = "no permission"
_SCHEDULE_RETRY = timedelta(minutes=3)
_SOON = timedelta(minutes=1)
_DAY = timedelta(days=1)
# As long as records of the log are kept.
RETENTION_DAYS = 400


def wake_for_report(report: Report) -> None:
    """Wake a worker for the report after the transaction."""
    REPORTS.wake(report.tenant_id, report.pk)


def create_report(report_id: int) -> None:
    """Create a report that is due, and save it. If two workers run at once, only one result is saved."""
    waits = Report.objects.filter(pk=report_id, due_at__isnull=False)
    report = waits.select_related("by", "tenant").first()
    if report is None:
        return
    if report.tries >= MAX_TRIES:
        waits.update(due_at=None, trouble="failed")
        return
    waits.update(tries=report.tries + 1, due_at=ClockTime() + _RETRY_AFTER)
    try:
        with override(report.language):
            made = _write_files(report)
    except store.STORE_ERRORS:
        waits.update(trouble="store")
        return
    files = [made["file"], made["pdf"], made["book"]]
    with transaction.atomic():
        if waits.update(due_at=None, trouble="", made_at=ClockTime(), **made):
            for row in files:
                store.retain(row)


def _write_files(report: Report) -> dict[str, Any]:
    """Write the lines to the store, then the page's lines and the files from them. Return the new values of the row."""
    from portal.reports import report_files  # its import is slow, and few processes need it

    with store.FileWriter() as lines:
        content = kinds.KINDS[report.kind].create_content(report)
        for number, cells in content.lines:
            lines.write(json.dumps([number, cells], ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    head = content.head
    told = {"tenant": report.tenant.name, "made": _("Made %(at)s") % {"at": moment_text(database_now())}}
    with store.FileWriter("application/json") as file:
        shown = report_files.lines_by_table(_read_lines(lines.row), len(head.sheets), MAX_PAGE_LINES)
        file.write(json.dumps(shown, ensure_ascii=False).encode())
    with store.FileWriter("application/pdf") as pdf:
        pdf.write(report_files.draw_pdf(head, _read_lines(lines.row), **told))
    with (
        store.FileWriter(XLSX_TYPE) as book,
        report_files.write_workbook(head, _read_lines(lines.row), **told) as plain,
    ):
        shutil.copyfileobj(plain, book, store.PIECE)
    store.schedule_deletion(StoredFile.objects.filter(pk=lines.row.pk))
    kept = {"file": file.row, "pdf": pdf.row, "book": book.row}
    return {**kept, "head": head.to_json(), "named_since": content.named_since}


def _read_lines(file: StoredFile) -> Iterator[TableLine]:
    rest = b""
    for piece in store.read_file(file):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number, cells = json.loads(line)
            yield number, cells


def load_lines(report: Report) -> list[tuple[list[Sequence[CellValue]], int]]:
    """Return the first lines of each table of a created report, and how many more there are.

    Raises store.FileUnreadable.
    """
    if report.file is None:
        return []
    return [(rows, left) for rows, left in json.loads(b"".join(store.read_file(report.file)))]


REPORTS = Process(
    name="reports",
    rows=due(Report),
    step=create_report,
    queue="bulk",
    every=scaled_seconds(5),
    seconds=280,
    claim_values=retry_after(_RETRY_AFTER),
)


def last_period(every: Every, at: datetime) -> tuple[datetime, datetime]:
    """Return the last week (from Monday) or month that ended by this moment, as [since, until)."""
    end = start_of(every, local(at).date())
    return period_of_days(start_of(every, end - _DAY), end - _DAY)


def start_of(every: Every, day: date) -> date:
    """Return the first day of a day's week or month."""
    return day.replace(day=1) if every == Every.MONTH else day - _DAY * day.weekday()


def next_run(every: Every, hour: int, after: datetime) -> datetime:
    """Return the first moment after `after` at which a period has ended and its report is due."""
    begin = start_of(every, local(after).date())
    while (run := datetime.combine(begin, time(hour), TOKYO)) <= after:
        begin = start_of(every, begin + _DAY * (31 if every == Every.MONTH else 7))
    return run


def count_between(every: Every, since: datetime, until: datetime) -> int:
    """Return the number of periods between two period starts."""
    count, begin, end = 0, local(since).date(), local(until).date()
    while begin < end:
        begin = start_of(every, begin + _DAY * (31 if every == Every.MONTH else 7))
        count += 1
    return count


def wake_for_schedule(schedule: Schedule) -> None:
    """Wake a worker for the schedule after the transaction."""
    SCHEDULES.wake(schedule.tenant_id, schedule.pk)


def run_schedule(schedule_id: int) -> None:
    """Request the report that is due, and send mails about the last created one."""
    with transaction.atomic():
        rows = Schedule.objects.select_for_update(of=("self",), no_key=True).select_related("by")
        schedule = rows.filter(pk=schedule_id, ended_at=None, next_at__isnull=False).first()
        if schedule is None:
            return
        due = database_now() - timedelta(hours=schedule.hour)
        # Periods that ended before the schedule was created are no missed runs; `send_now` requests them.
        if last_period(Every(schedule.every), due)[1] > schedule.made_at:
            request_scheduled_report(schedule, due)
    made = Report.objects.filter(schedule=schedule, made_at__isnull=False).order_by("-since").first()
    reached = made is None or _notify(made)
    waits = not reached or Report.objects.filter(schedule=schedule, due_at__isnull=False).exists()
    after = database_now()
    next_at = after + _SOON if waits else next_run(Every(schedule.every), schedule.hour, after)
    Schedule.objects.filter(pk=schedule.pk, ended_at=None).update(next_at=next_at)


def request_scheduled_report(schedule: Schedule, at: datetime) -> Report:
    """Return the report of the period before this moment; request it if it does not exist."""
    every = Every(schedule.every)
    since, until = last_period(every, at)
    told = {
        "kind": schedule.kind, "choices": schedule.choices, "language": schedule.language, "until": until,
        "by": schedule.by, "recipients": schedule.recipients, "due_at": database_now(),
    }  # fmt: skip
    last = Report.objects.filter(schedule=schedule).order_by("-since").first()
    if last is not None:
        told["missed"] = max(count_between(every, last.since, since) - 1, 0)
    report, is_new = Report.objects.get_or_create(schedule=schedule, since=since, defaults=told)
    if is_new:
        wake_for_report(report)
    return report


def _notify(report: Report) -> bool:
    """Send mails to recipients without one. Return whether all of them are done."""
    told = set(Sending.objects.filter(report=report).values_list("user_id", flat=True))
    people = User.objects.filter(pk__in=report.recipients)
    for user in people.exclude(pk__in=told).order_by("pk"):
        _send_once(report, user)
    return not people.exclude(pk__in=Sending.objects.filter(report=report).values("user")).exists()


def _send_once(report: Report, user: User) -> None:
    row, is_new = Sending.objects.get_or_create(report=report, user=user)  # saved before the mail is sent
    if not is_new:
        return
    outcome = _try_send(report, user)
    if outcome.should_retry:  # surely did not arrive; retried in the next run
        row.delete()
    else:
        Sending.objects.filter(pk=row.pk).update(state=outcome.state, answer=outcome.answer)


def _try_send(report: Report, user: User) -> DeliveryOutcome:
    if not kinds.may_see(access_to(user, current_tenant()), report.kind):
        return DeliveryOutcome.failed(NO_PERMISSION)
    with override(report.language):  # the language of the report's figures
        return mailing.send(_message(report, user))


def _message(report: Report, user: User) -> EmailMessage:
    tenant = current_tenant()
    address = settings.PORTAL_URL + reverse("reports:page", args=[tenant.slug, report.pk])
    title = kinds.KINDS[report.kind].title
    head = ReportHead.from_json(report.head or {})
    said = {"title": title, "period": head.period, "tenant": tenant, "address": address, "head": head}
    subject = f"[{tenant.name}] " + _("Report: %(title)s, %(period)s") % said
    headers = {"Auto-Submitted": "auto-generated", "X-Report": str(report.pk)}
    return EmailMessage(subject, render_to_string("reports/mail.txt", said), None, [user.email], headers=headers)


def mark_restored(found_at: datetime) -> int:
    """Treat reports that were due before a restore as created and sent. People can still request or send them."""
    rows = Schedule.objects.filter(ended_at=None, next_at__lte=found_at)
    for schedule in rows:
        schedule.next_at = next_run(Every(schedule.every), schedule.hour, found_at)
        schedule.save(update_fields=["next_at"])
    for report in Report.objects.filter(schedule__ended_at=None, schedule__isnull=False):
        told = [Sending(report=report, user_id=each, state=State.UNCERTAIN) for each in report.recipients]
        Sending.objects.bulk_create(told, ignore_conflicts=True)
    return len(rows)


SCHEDULES = Process(
    name="report_schedules",
    rows=due(Schedule, "next_at", ended_at=None),
    step=run_schedule,
    queue="bulk",
    every=scaled_seconds(30),
    seconds=120,
    claim_values=retry_after(_SCHEDULE_RETRY, "next_at"),
    order=("next_at",),
)


def delete_guest_files(before: datetime) -> None:
    """Delete the files of reports that name guests whose visits ended before this time. Their figures are kept."""
    rows = Report.objects.filter(named_since__lt=before, files_deleted_at=None, made_at__isnull=False)
    files = _files(rows)
    rows.update(file=None, pdf=None, book=None, files_deleted_at=ClockTime())
    store.schedule_deletion(StoredFile.objects.filter(pk__in=files))


def delete_old_reports(tenant: Tenant) -> int:
    """Delete the tenant's old reports. Return their number."""
    with transaction.atomic():
        rows = Report.objects.filter(_is_old())
        files, count = _files(rows), rows.count()
        if count == 0:
            return 0
        rows.delete()
        store.schedule_deletion(StoredFile.objects.filter(pk__in=files))
        said = coded_sentence("report.deleted", n=count)
        audit.record(
            tenant=tenant, by=None, by_label=audit.PORTAL_ACTOR, action=said.code, target="report", summary=said,
            after={"older_than_days": RETENTION_DAYS},
        )  # fmt: skip
    return count


def _files(rows: QuerySet[Report]) -> list[int]:
    return [pk for each in rows.values_list("file", "pdf", "book") for pk in each if pk is not None]


def _is_old() -> Q:
    return Q(asked_at__lt=ClockTime() - timedelta(days=RETENTION_DAYS), due_at=None)


def old_reports() -> list[QuerySet[Report]]:
    """Return the old reports of all tenants."""
    return [Report.objects_across_tenants.filter(_is_old())]
