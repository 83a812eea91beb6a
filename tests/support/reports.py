"""A desk with reports. The test does the workers' steps."""

import uuid
from datetime import timedelta
from io import BytesIO

from django.urls import reverse
from django.utils import timezone
from openpyxl import load_workbook

from portal.base.ui.times import local
from portal.domain.history import partitions
from portal.domain.history.models import History
from portal.reports import report_worker
from portal.reports.access_reports import doors_into
from portal.reports.models import Every, Report, Schedule
from tests.support.areas import AreasDesk
from tests.support.members import said
from tests.support.outbox import send_messages


class ReportsDesk(AreasDesk):
    """A person at the pages of reports."""

    def link(self, name, *more):
        return reverse(f"reports:{name}", args=[self.place.tenant.slug, *more])

    def ask(self, kind, **values):
        """Request a report by its form, and create it."""
        answer = self.client.post(self.link("new", kind), self.days(**values))
        assert answer.status_code == 302, said(answer)
        return self.made()

    def days(self, **values):
        """Return the form values of a report over the seven days before today."""
        yesterday = (local(timezone.now()) - timedelta(days=1)).date()
        return {"nonce": str(uuid.uuid4()), "first": yesterday - timedelta(days=6), "last": yesterday, **values}

    def made(self):
        """Create the newest report that was requested, and return it."""
        with self.scope():
            report = Report.objects.latest("pk")
            report_worker.create_report(report.pk)
        return report

    def page(self, report):
        return said(self.client.get(self.link("page", report.pk)))

    def file(self, report, form):
        return b"".join(self.client.get(self.link("download", report.pk, form)).streaming_content)

    def rows(self, report, number=0):
        """Return the rows of a table of a created report, as its workbook contains them."""
        book = load_workbook(BytesIO(self.file(report, "xlsx")))
        return [list(row) for row in book.worksheets[number + 1].iter_rows(min_row=2, values_only=True)]

    def passes(self, member, times=1, days=2, category="normal", at=None):
        """Add log records of this member at the first door of the area."""
        at = at or timezone.now() - timedelta(days=days)
        with self.scope():
            [door, *_rest] = doors_into(self.area)
            partitions.ensure_partitions([at])
            for number in range(times):
                History.objects.create(
                    history_id=str(uuid.uuid4()), at=at + timedelta(minutes=number), category=category,
                    member_id=member.member_id, member_name=member.member_name, device_id=door,
                )  # fmt: skip

    def schedule(self, *people, every=Every.WEEK, kind="week", **values):
        told = {
            "every": every,
            "hour": 7,
            "language": "en",
            "recipients": [user.pk for user in people],
            "nonce": str(uuid.uuid4()),
        }
        answer = self.client.post(self.link("schedule", kind), told | values)
        assert answer.status_code == 302, said(answer)
        with self.scope():
            return Schedule.objects.latest("pk")

    def run(self, schedule):
        """Do the step of a schedule, and send its mails."""
        with self.scope():
            report_worker.run_schedule(schedule.pk)
            send_messages()

    def monday(self, schedule, weeks=1):
        """Move the schedule's creation back by so many weeks, and do the workers' steps that are due."""
        with self.scope():
            Schedule.objects.filter(pk=schedule.pk).update(made_at=timezone.now() - timedelta(weeks=weeks + 1))
            for _turn in range(2):
                self.run(schedule)
                for report in Report.objects.filter(schedule=schedule, due_at__isnull=False):
                    report_worker.create_report(report.pk)
