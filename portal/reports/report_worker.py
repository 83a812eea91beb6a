"""Create reports in workers, run their schedules, send mails about them, and delete old ones.

A worker writes a report's lines encrypted to the store, then the page's lines, the PDF and the workbook. Opening or
downloading a report needs no more work. A report is never created again, so everyone sees what was sent.

A schedule creates the report of its last period exactly once, then queues a mail to each recipient. After missed runs,
only the latest period is created automatically. The others are counted in the report and can be requested. Permissions
are checked when mails are sent (`outbox.py`): people without the role or permission get none.

Reports are kept as long as the log. Files with guests' names are deleted with the guests' data.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from portal.base.files.cells import CellValue
from portal.base.files.workbooks import XLSX_TYPE
from portal.base.storage import store
from portal.base.storage.models import StoredFile
from portal.base.timers.clock import ClockTime, database_now, scaled_seconds
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.base.ui.times import TOKYO, local, moment_text
from portal.domain.notifications import outbox
from portal.domain.notifications.models import OutgoingMessage
from portal.domain.notifications.outbox import MessageKind, MessageText
from portal.reports import kinds
from portal.reports.content import ReportHead, TableLine, period_of_days, printed_lines
from portal.reports.models import Every, Report, Schedule
from tenants import audit
from tenants.access import Access
from tenants.models import Tenant, User, current_tenant
from tenants.sentences import coded_sentence

MAX_TRIES = 5
# The most lines of each table on a page; the files have all lines.
MAX_PAGE_LINES = 50
_RETRY_AFTER = timedelta(minutes=6)
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
            lines.write(json.dumps([number, cells], ensure_ascii=False, default=_encode).encode() + b"\n")
    head = content.head
    heading = {"tenant": report.tenant.name, "made": _("Created %(at)s") % {"at": moment_text(database_now())}}
    with store.FileWriter("application/json") as file:
        page_lines = report_files.lines_by_table(
            printed_lines(_read_lines(lines.row)), len(head.sheets), MAX_PAGE_LINES
        )
        file.write(json.dumps(page_lines, ensure_ascii=False).encode())
    with store.FileWriter("application/pdf") as pdf:
        pdf.write(report_files.draw_pdf(head, printed_lines(_read_lines(lines.row)), **heading))
    with store.FileWriter(XLSX_TYPE) as book:
        for piece in report_files.write_report_workbook(head, _read_lines(lines.row), **heading):
            book.write(piece)
    store.schedule_deletion(StoredFile.objects.filter(pk=lines.row.pk))
    files = {"file": file.row, "pdf": pdf.row, "book": book.row}
    return {**files, "head": head.to_json(), "named_since": content.named_since}


def _read_lines(file: StoredFile) -> Iterator[TableLine]:
    remainder = b""
    for piece in store.read_file(file):
        *complete, remainder = (remainder + piece).split(b"\n")
        for line in complete:
            number, cells = json.loads(line, object_hook=_decode)
            yield number, cells


def _encode(value: CellValue) -> dict[str, Any]:
    """Return a typed cell as JSON."""
    if isinstance(value, timedelta):
        return {"seconds": value.total_seconds()}
    if isinstance(value, date):
        return {"moment" if isinstance(value, datetime) else "day": value.isoformat()}
    raise TypeError(f"A cell cannot have the type {type(value)}.")


def _decode(value: dict[str, Any]) -> CellValue:
    """Return the cell of `_encode`."""
    [(kind, content)] = value.items()
    if kind == "seconds":
        return timedelta(seconds=content)
    return datetime.fromisoformat(content) if kind == "moment" else date.fromisoformat(content)


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
    """Request the report that is due, and queue mails about the last created one."""
    with transaction.atomic():
        rows = Schedule.objects.select_for_update(of=("self",), no_key=True).select_related("by")
        schedule = rows.filter(pk=schedule_id, ended_at=None, next_at__isnull=False).first()
        if schedule is None:
            return
        due = database_now() - timedelta(hours=schedule.hour)
        # Periods that ended before the schedule was created are no missed runs; `send_now` requests them.
        since, until = last_period(Every(schedule.every), due)
        if until > schedule.made_at and not Report.objects.filter(schedule=schedule, since=since).exists():
            request_scheduled_reports(schedule, due)
        made = Report.objects.filter(schedule=schedule, made_at__isnull=False)
        for report in made.filter(since=made.aggregate(last=Max("since"))["last"]):
            outbox.queue(messages_about(report))
        waits = Report.objects.filter(schedule=schedule, due_at__isnull=False).exists()
        after = database_now()
        schedule.next_at = after + _SOON if waits else next_run(Every(schedule.every), schedule.hour, after)
        schedule.save(update_fields=["next_at"])


def request_scheduled_reports(schedule: Schedule, at: datetime) -> list[Report]:
    """Return the reports of the period before this moment, one for each language of the recipients.

    Those that do not exist are requested. The recipients of all are set.
    """
    every = Every(schedule.every)
    since, until = last_period(every, at)
    values = {
        "kind": schedule.kind, "choices": schedule.choices, "until": until, "by": schedule.by, "due_at": database_now(),
    }  # fmt: skip
    last = Report.objects.filter(schedule=schedule, since__lt=since).order_by("-since").first()
    if last is not None:
        values["missed"] = max(count_between(every, last.since, since) - 1, 0)
    reports = []
    for language, people in _recipients_by_language(schedule, since).items():
        key = {"schedule": schedule, "since": since, "language": language}
        report, is_new = Report.objects.update_or_create(
            **key, defaults={"recipients": people}, create_defaults={**key, **values, "recipients": people}
        )
        reports.append(report)
        if is_new:
            wake_for_report(report)
    return reports


def _recipients_by_language(schedule: Schedule, since: datetime) -> dict[str, list[int]]:
    """Return the recipients by language. People who have a report of this period keep its language."""
    existing = list(Report.objects.filter(schedule=schedule, since=since).order_by("pk"))
    kept = {pk: report.language for report in existing for pk in report.recipients}
    usual = existing[0].language if existing else schedule.language
    found: dict[str, list[int]] = defaultdict(list)
    for user in User.objects.filter(pk__in=schedule.recipients).order_by("pk"):
        found[kept.get(user.pk) or user.language or usual].append(user.pk)
    return found or {usual: []}


def messages_about(report: Report) -> list[OutgoingMessage]:
    """Return the messages about a report, one for each recipient."""
    people = User.objects.filter(pk__in=report.recipients).order_by("pk")
    return [OutgoingMessage(kind=REPORT.name, subject=report.pk, user=each) for each in people]


def _may_receive(report_id: int, access: Access) -> bool:
    report = Report.objects.filter(pk=report_id).first()
    return report is not None and kinds.may_see(access, report.kind)


def _write(report_id: int, _access: Access | None) -> MessageText | None:
    """Return the message about a report, in the language of the report's figures."""
    report = Report.objects.filter(pk=report_id).first()
    if report is None:
        return None
    with override(report.language):
        title, head = kinds.KINDS[report.kind].title, ReportHead.from_json(report.head or {})
        values = {"title": title, "period": head.period, "tenant": current_tenant(), "head": head}
        values["address"] = outbox.page_url(REPORT.route, report.pk)
        return MessageText(_("Report: %(title)s, %(period)s") % values, render_to_string("reports/mail.txt", values))


REPORT = MessageKind(
    name="report",
    route="reports:page",
    may_receive=_may_receive,
    write=_write,
    test_text=gettext_lazy("Test from %(tenant)s: reports arrive here."),
    max_attempts=outbox.ATTEMPTS_IN_A_WEEK,
)


def mark_restored(found_at: datetime) -> int:
    """Treat reports that were due before a restore as created and sent. People can still request or send them."""
    rows = Schedule.objects.filter(ended_at=None, next_at__lte=found_at)
    for schedule in rows:
        schedule.next_at = next_run(Every(schedule.every), schedule.hour, found_at)
        schedule.save(update_fields=["next_at"])
    for report in Report.objects.filter(schedule__ended_at=None, schedule__isnull=False):
        outbox.queue(outbox.as_restored(each) for each in messages_about(report))
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
        files, pks = _files(rows), list(rows.values_list("pk", flat=True))
        if not pks:
            return 0
        outbox.delete_messages(pks, REPORT.name)
        rows.filter(pk__in=pks).delete()
        store.schedule_deletion(StoredFile.objects.filter(pk__in=files))
        summary = coded_sentence("report.deleted", n=len(pks))
        audit.record(
            tenant=tenant, by=None, by_label=audit.PORTAL_ACTOR, action=summary.code, target="report", summary=summary,
            after={"older_than_days": RETENTION_DAYS},
        )  # fmt: skip
    return len(pks)


def _files(rows: QuerySet[Report]) -> list[int]:
    return [pk for each in rows.values_list("file", "pdf", "book") for pk in each if pk is not None]


def _is_old() -> Q:
    return Q(requested_at__lt=ClockTime() - timedelta(days=RETENTION_DAYS), due_at=None)


def old_reports() -> list[QuerySet[Report]]:
    """Return the old reports of all tenants."""
    return [Report.objects_across_tenants.filter(_is_old())]
