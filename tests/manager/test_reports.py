"""Reports: made by a worker, shown on a page, as PDF and as a workbook, and sent on a schedule to who may see them."""

import re
import uuid
from datetime import datetime, timedelta
from io import BytesIO

import pytest
from django.core import mail
from django.urls import reverse
from django.utils import timezone
from openpyxl import load_workbook
from pypdfium2 import PdfDocument

from portal.core.mirror import months
from portal.core.mirror.models import History
from portal.core.ui.times import TOKYO, local
from portal.core.visits.models import DeskSettings, Visit
from portal.evidence.models import StoredFile
from portal.reports import keeping, making, periods, scheduling
from portal.reports.kinds import KINDS
from portal.reports.kinds.passages import doors_into
from portal.reports.models import Every, Report, Schedule
from portal.today import erasing
from tenants import audit
from tenants.models import AuditEntry, Staff
from tenants.wording import say
from tests.support.areas import AreasDesk
from tests.support.members import said
from tests.support.reviews import option


class ReportsDesk(AreasDesk):
    """Somebody's desk with the pages of reports."""

    def link(self, name, *more):
        return reverse(f"reports:{name}", args=[self.place.tenant.slug, *more])

    def ask(self, kind, **values):
        """Ask for a report by its form, and have it made."""
        answer = self.client.post(self.link("new", kind), self.days(**values))
        assert answer.status_code == 302, said(answer)
        return self.made()

    def days(self, **values):
        """The form of a report over the seven days before today."""
        yesterday = (local(timezone.now()) - timedelta(days=1)).date()
        return {"nonce": str(uuid.uuid4()), "first": yesterday - timedelta(days=6), "last": yesterday, **values}

    def made(self):
        """The newest report, made."""
        with self.scope():
            report = Report.objects.latest("pk")
            making.make(report.pk)
        return report

    def page(self, report):
        return said(self.client.get(self.link("page", report.pk)))

    def file(self, report, form):
        return b"".join(self.client.get(self.link("download", report.pk, form)).streaming_content)

    def rows(self, report, number=0):
        """The lines of a table of a report that was made."""
        with self.scope():
            return [cells for place, cells in making.lines(Report.objects.get(pk=report.pk)) if place == number]

    def passes(self, member, times=1, days=2):
        """The log has this member at the first door of the area."""
        at = timezone.now() - timedelta(days=days)
        with self.scope():
            [door, *_rest] = doors_into(self.area)
            months.ensure([at])
            for number in range(times):
                History.objects.create(
                    history_id=str(uuid.uuid4()), at=at + timedelta(minutes=number), category="normal",
                    member_id=member.member_id, member_name=member.member_name, device_id=door,
                )  # fmt: skip

    def schedule(self, *people, every=Every.WEEK, kind="week", **values):
        told = {"every": every, "hour": 7, "recipients": [user.pk for user in people], "nonce": str(uuid.uuid4())}
        answer = self.client.post(self.link("schedule", kind), told | values)
        assert answer.status_code == 302, said(answer)
        with self.scope():
            return Schedule.objects.latest("pk")

    def monday(self, schedule, weeks=1):
        """So many Mondays passed since it was set up: let workers do what is due."""
        with self.scope():
            Schedule.objects.filter(pk=schedule.pk).update(made_at=timezone.now() - timedelta(weeks=weeks + 1))
            for _turn in range(2):
                scheduling.run(schedule.pk)
                for report in Report.objects.filter(schedule=schedule, due_at__isnull=False):
                    making.make(report.pk)


@pytest.fixture
def desk(place):
    return ReportsDesk(place)


def test_every_kind_is_made_and_shown_as_page_pdf_and_workbook(desk):
    desk.know(desk.people[0], option(desk.area.area_id))
    desk.passes(desk.people[0], 3)
    with desk.scope():
        desk.people[0].refresh_from_db()
    for name in KINDS:
        report = desk.ask(name, area=desk.area.area_id)
        page = desk.page(report)
        assert str(KINDS[name].title) in page
        assert "The report is being made" not in page
        pages = texts(desk.file(report, "pdf"))
        assert f"1 / {len(pages)}" in pages[0]
        book = desk.file(report, "xlsx")
        assert load_workbook(BytesIO(book)).sheetnames[0] == "About"


def test_a_page_waits_for_its_report_and_shows_it_once_it_is_made(desk):
    answer = desk.client.post(desk.link("new", "week"), desk.days())
    waiting = desk.client.get(answer["Location"])
    assert "The report is being made. It appears here." in said(waiting)
    [seen] = re.findall(r'data-seen="(\w+)" hx-swap', waiting.content.decode())
    with desk.scope():
        report = Report.objects.latest("pk")
    assert desk.client.get(desk.link("download", report.pk, "pdf")).status_code == 404
    progress = desk.link("progress", report.pk)
    assert desk.client.get(progress, headers={"X-Seen": seen}).status_code == 204
    desk.made()
    shown = desk.client.get(progress, headers={"X-Seen": seen})
    assert "Day by day" in said(shown)
    assert b"hx-get" not in shown.content


def test_a_form_that_is_sent_twice_asks_for_one_report(desk):
    told = desk.days()
    first, second = (desk.client.post(desk.link("new", "week"), told)["Location"] for _time in range(2))
    assert first == second


def test_days_that_are_none_are_refused_with_what_was_typed(desk):
    for first, last, why in (
        ("2026-01-02", "2026-01-01", "The last day is before the first."),
        ("2024-01-01", "2026-01-01", "At most 366 days in one report."),
        ("2026-01-01", "2999-01-01", "This day has not come yet."),
    ):
        answer = desk.client.post(desk.link("new", "week"), desk.days(first=first, last=last))
        assert why in said(answer)
        assert first in answer.content.decode()


def test_who_entered_is_counted_with_what_is_missing_of_the_log(desk):
    desk.passes(desk.people[0], 3)
    desk.passes(desk.people[1])
    page = desk.page(desk.ask("entered", area=desk.area.area_id))
    assert "People at least 2" in page
    assert "Entries at least 4" in page
    assert desk.people[0].member_name in page


def test_who_may_enter_says_of_how_many_nothing_is_known(desk):
    desk.know(desk.people[0], option(desk.area.area_id))
    page = desk.page(desk.ask("may_enter", area=desk.area.area_id))
    assert "People at least 1" in page
    assert f"Rights of {len(desk.people) - 1} members not loaded" in page


def test_every_page_of_a_pdf_has_the_period_and_how_complete_it_is(desk):
    with desk.scope():
        months.ensure([timezone.now() - timedelta(days=2)])
        for number in range(150):
            History.objects.create(
                history_id=str(uuid.uuid4()), at=timezone.now() - timedelta(days=2, seconds=number), category="normal",
                member_id=f"m-{number}", member_name="佐藤 とても長い名前の太郎", device_id="d-1",
            )  # fmt: skip
    report = desk.ask("entered")
    pages = texts(desk.file(report, "pdf"))
    assert len(pages) > 1
    for number, text in enumerate(pages, start=1):
        assert periods.words(report.since, report.until) in text
        assert "not loaded" in text
        assert f"{number} / {len(pages)}" in text


def texts(pdf):
    """The text of each page of a PDF."""
    with PdfDocument(pdf) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def test_a_schedule_makes_each_report_once_and_tells_each_person_once(desk):
    owner = desk.place.staff("owner")
    schedule = desk.schedule(owner)
    mail.outbox.clear()
    for _time in range(3):
        desk.monday(schedule)
    with desk.scope():
        [report] = Report.objects.filter(schedule=schedule)
    [told] = mail.outbox
    assert told.to == [owner.email]
    assert desk.link("page", report.pk) in told.body
    told_of = desk.page(report).partition("Sent to")[2]
    assert str(owner) in told_of
    assert "Sent" in told_of


def test_who_lost_the_role_is_not_told(desk):
    owner, other = desk.place.staff("owner"), desk.place.staff("facility manager")
    schedule = desk.schedule(owner, other)
    with desk.scope():
        Staff.objects.filter(user=other).update(role="guard")
    mail.outbox.clear()
    desk.monday(schedule)
    assert [told.to for told in mail.outbox] == [[owner.email]]
    with desk.scope():
        report = Report.objects.get(schedule=schedule)
    assert "Not sent: no permission to see this report" in desk.page(report)


def test_missed_runs_are_made_up_once_and_counted(desk):
    schedule = desk.schedule(desk.place.staff("owner"))
    desk.monday(schedule)
    with desk.scope():
        first = Report.objects.get(schedule=schedule)
        Report.objects.filter(pk=first.pk).update(since=first.since - timedelta(weeks=3))
        mail.outbox.clear()
    desk.monday(schedule, weeks=5)
    with desk.scope():
        latest = Report.objects.filter(schedule=schedule).latest("since")
        assert Report.objects.filter(schedule=schedule).count() == 2
    assert latest.missed == 2
    assert "2 reports before this one were missed." in desk.page(latest)
    assert len(mail.outbox) == 1


def test_the_latest_report_of_a_new_schedule_is_sent_when_asked_for(desk):
    owner = desk.place.staff("owner")
    schedule = desk.schedule(owner)
    mail.outbox.clear()
    for _press in range(2):
        answer = desk.client.post(desk.link("send_now", schedule.pk))
        report = desk.made()
        with desk.scope():
            scheduling.run(schedule.pk)
        assert answer["Location"] == desk.link("page", report.pk)
    [told] = mail.outbox
    assert told.to == [owner.email]
    assert "Entries: at least 0" in told.body
    assert "Activity log" in told.body or "not loaded" in told.body


def test_who_is_added_later_is_told_once_and_nobody_twice(desk):
    owner, other = desk.place.staff("owner"), desk.place.staff("facility manager")
    schedule = desk.schedule(owner)
    desk.client.post(desk.link("send_now", schedule.pk))
    desk.made()
    with desk.scope():
        scheduling.run(schedule.pk)
    desk.client.post(desk.link("change", schedule.pk), {"hour": 9, "recipients": [owner.pk, other.pk]})
    page = said(desk.client.get(desk.link("index")))
    assert "Mondays at 09:00" in page
    mail.outbox.clear()
    desk.client.post(desk.link("send_now", schedule.pk))
    with desk.scope():
        scheduling.run(schedule.pk)
        scheduling.run(schedule.pk)
    assert [told.to for told in mail.outbox] == [[other.email]]


def test_rights_that_nobody_used_are_named_with_their_members(desk):
    used, idle = desk.people[0], desk.people[1]
    for member in (used, idle):
        desk.know(member, option(desk.area.area_id))
    desk.passes(used)
    report = desk.ask("unused")
    [row] = [row for row in desk.rows(report, 1) if row[0] == desk.area.area_name]
    assert row[1:] == [2, 1, 1]
    assert [(row[0], row[3]) for row in desk.rows(report, 2)] == [(idle.member_name, desk.area.area_name)]
    assert "Rights that were not used at least 1" in desk.page(report)


def test_a_right_to_all_areas_is_unused_where_no_area_was_used(desk):
    used, idle = desk.people[0], desk.people[1]
    for member in (used, idle):
        desk.know(member, {"default_mode": "allow_all"})
    desk.passes(used)
    assert [row[0] for row in desk.rows(desk.ask("unused"), 2)] == [idle.member_name]


def test_the_lines_go_when_the_data_of_a_guest_in_them_goes(desk):
    now = timezone.now()
    with desk.scope():
        Visit.objects.create(
            guest_id="g-1", guest_name="佐々木 花子", use_date_start=now - timedelta(days=3),
            use_date_end=now - timedelta(days=2),
        )  # fmt: skip
    report = desk.ask("guests")
    assert "佐々木 花子" in desk.page(report)
    with desk.scope():
        DeskSettings.objects.update_or_create(defaults={"keep_days": 1})
        erasing.erase(desk.place.tenant)
    page = desk.page(report)
    assert "佐々木 花子" not in page
    assert "The lines were deleted" in page
    assert "Visits 1" in page
    assert desk.client.get(desk.link("download", report.pk, "pdf")).status_code == 404
    again = said(desk.client.get(desk.link("new", "guests") + f"?as={report.pk}"))
    assert "Make report" in again


def test_what_staff_did_is_counted_once_and_in_words(desk):
    desk.client.post(desk.link("new", "keys"), {"nonce": str(uuid.uuid4())})
    with desk.scope():
        for action in ("operate_door", "operate_door.succeeded"):
            audit.record(
                tenant=desk.place.tenant, by=desk.place.owner, action=action, target="pass_controller:d-1",
                summary=say("door.unlock", door="d-1"), intent_id="5",
            )  # fmt: skip
    report = desk.ask("staff", last=local(timezone.now()).date())
    found = {row[2]: row[3] for row in desk.rows(report)}
    assert found["Operate door lock"] == 1
    assert found["Report requested"] == 1
    assert not any("." in name for name in found)


def test_reports_are_deleted_after_their_time(desk):
    report = desk.ask("keys")
    with desk.scope():
        Report.objects.filter(pk=report.pk).update(asked_at=timezone.now() - timedelta(days=keeping.DAYS_KEPT + 1))
    assert keeping.delete_old() == 1
    assert desk.client.get(desk.link("page", report.pk)).status_code == 404
    with desk.scope():
        assert AuditEntry.objects.filter(action="report.deleted").count() == 1
        assert not StoredFile.objects.filter(delete_at=None).exists()


def test_a_week_is_shown_beside_the_one_before_with_its_bars(desk):
    desk.passes(desk.people[0], 3)
    desk.passes(desk.people[0], days=9)
    page = desk.client.get(desk.link("page", desk.ask("week").pk))
    assert "Entries at least 3 Time before: at least 1" in said(page)
    assert b"chart-bar" in page.content


def test_a_report_is_not_found_by_whoever_may_not_see_what_it_shows(desk):
    report = desk.ask("staff")
    guard = desk.place.client(desk.place.staff("guard"))
    assert guard.get(desk.link("page", report.pk)).status_code in (403, 404)


def test_a_week_begins_on_monday_and_is_due_on_the_next(desk):
    at = datetime(2026, 11, 25, 12, tzinfo=TOKYO)
    since, until = periods.before(Every.WEEK, at)
    assert periods.words(since, until) == "2026-11-16 – 2026-11-22"
    assert periods.next_run(Every.WEEK, 7, at) == datetime(2026, 11, 30, 7, tzinfo=TOKYO)
    assert periods.next_run(Every.MONTH, 7, at) == datetime(2026, 12, 1, 7, tzinfo=TOKYO)
    assert periods.words(*periods.before(Every.MONTH, at)) == "2026-10-01 – 2026-10-31"
