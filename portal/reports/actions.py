"""Actions on reports: request a report; create, change and end a schedule; send now."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import get_language

from portal.base.timers.clock import ClockTime, database_now
from portal.domain.intents.recording import Requester
from portal.reports import content, report_worker
from portal.reports.models import Every, Report, Schedule
from tenants import audit
from tenants.sentences import Sentence, coded_sentence


def request_report(
    *, kind: str, choices: Mapping[str, str], since: datetime, until: datetime, nonce: uuid.UUID, by: Requester
) -> Report:
    """Request a report; a worker creates it. The same form returns the same report."""
    values = {"kind": kind, "choices": dict(choices), "since": since, "until": until, "by": by.user}
    values |= {"language": get_language() or "en", "due_at": database_now()}
    with transaction.atomic():
        report, is_new = Report.objects.get_or_create(nonce=nonce, defaults=values)
        if is_new:
            after = {"period": content.period_text(since, until)}
            _record(by, report, coded_sentence("report.asked", kind=title_of(kind)), after=after)
            report_worker.wake_for_report(report)
    return report


def create_schedule(
    *, kind: str, choices: Mapping[str, str], every: Every, hour: int, language: str, recipients: Sequence[int],
    nonce: uuid.UUID, by: Requester,
) -> Schedule:  # fmt: skip
    """Create a schedule; the same form returns the same schedule.

    Its first report is about the period that ends next.
    """
    now = database_now()
    values = {"kind": kind, "choices": dict(choices), "every": every, "hour": hour, "recipients": list(recipients)}
    values |= {"language": language, "by": by.user, "next_at": report_worker.next_run(every, hour, now)}
    with transaction.atomic():
        schedule, is_new = Schedule.objects.get_or_create(nonce=nonce, defaults=values)
        if is_new:
            after = {"recipients": list(recipients), "every": str(every)}
            _record(by, schedule, coded_sentence("report.scheduled", kind=title_of(kind)), after=after)
    return schedule


def change_schedule(*, schedule: Schedule, hour: int, language: str, recipients: Sequence[int], by: Requester) -> None:
    """Change a schedule's hour, language and recipients. Existing reports are not changed."""
    values = {"hour": hour, "language": language, "recipients": list(recipients)}
    before = {name: getattr(schedule, name) for name in values}
    with transaction.atomic():
        # Due at once: a worker then notifies new recipients and sets the next time.
        running = Schedule.objects.filter(pk=schedule.pk, ended_at=None)
        if before != values and running.update(**values, next_at=ClockTime()):
            _record(
                by,
                schedule,
                coded_sentence("report.schedule_changed", kind=title_of(schedule.kind)),
                before=before,
                after=values,
            )


def end_schedule(*, schedule: Schedule, by: Requester) -> None:
    """End a schedule. Its reports are kept."""
    with transaction.atomic():
        running = Schedule.objects.filter(pk=schedule.pk, ended_at=None)
        if running.update(ended_at=ClockTime(), next_at=None):
            _record(by, schedule, coded_sentence("report.schedule_ended", kind=title_of(schedule.kind)))


def send_now(*, schedule: Schedule, by: Requester) -> Report:
    """Create the reports of the last period, notify recipients who were not notified yet, and return one report.

    It is that of the person, if they are a recipient.
    """
    with transaction.atomic():
        locked = Schedule.objects.select_for_update(of=("self",), no_key=True).select_related("by").get(pk=schedule.pk)
        reports = report_worker.request_scheduled_reports(locked, database_now())
        Schedule.objects.filter(pk=schedule.pk, ended_at=None).update(next_at=ClockTime())
        report_worker.wake_for_schedule(schedule)
        _record(by, schedule, coded_sentence("report.sent_now", kind=title_of(schedule.kind)))
    return next((each for each in reports if by.user is not None and by.user.pk in each.recipients), reports[0])


def title_of(kind: str) -> Sentence:
    """Return the title of a kind of report for use in sentences."""
    return coded_sentence(f"report_kind.{kind}")


def _record(by: Requester, on: Report | Schedule, summary: Sentence, **changes: Any) -> None:
    target = f"{'report' if isinstance(on, Report) else 'report_schedule'}:{on.pk}"
    audit.record(**by.audit_author, action=summary.code, target=target, summary=summary, **changes)
