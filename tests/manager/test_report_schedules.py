"""Reports on a schedule: created once for each period, and sent once to each person who may still see them."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from django.core import mail
from django.utils import timezone

from portal.base.ui.times import TOKYO, local
from portal.reports import content, report_worker
from portal.reports.models import Every, Report
from tenants.models import AuditEntry, Staff, User
from tests.support.log import clock, loaded
from tests.support.members import said
from tests.support.reports import ReportsDesk


@pytest.fixture
def desk(place):
    return ReportsDesk(place)


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


def test_each_person_gets_the_report_in_their_language(desk):
    owner, other = desk.place.staff("owner"), desk.place.staff("facility manager")
    User.objects.filter(pk=other.pk).update(language="ja")
    schedule = desk.schedule(owner, other)
    mail.outbox.clear()
    for _time in range(2):
        desk.monday(schedule)
    told = {sent.to[0]: sent for sent in mail.outbox}
    assert len(mail.outbox) == len(told) == 2
    with desk.scope():
        reports = {report.language: report for report in Report.objects.filter(schedule=schedule)}
    assert sorted(reports) == ["en", "ja"]
    assert "Week at a glance" in told[owner.email].subject
    assert "週の概況" in told[other.email].subject
    assert desk.link("page", reports["ja"].pk) in told[other.email].body
    assert "This report is in Japanese." in desk.page(reports["ja"])
    assert "This report is in" not in desk.page(reports["en"])


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
    assert "Not sent: no permission" in desk.page(report)


def test_an_ended_schedule_makes_nothing_and_stays_as_it_was(desk):
    schedule = desk.schedule(desk.place.staff("owner"))
    for _time in range(2):
        desk.client.post(desk.link("end", schedule.pk))
    answer = desk.client.post(desk.link("send_now", schedule.pk))
    assert answer.status_code == 404
    desk.monday(schedule)
    with desk.scope():
        assert not Report.objects.filter(schedule=schedule).exists()
        assert AuditEntry.objects.filter(action="report.schedule_ended").count() == 1


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
    assert "2 earlier reports were not created." in desk.page(latest)
    assert len(mail.outbox) == 1


def test_the_latest_report_of_a_new_schedule_is_sent_when_asked_for(desk):
    owner = desk.place.staff("owner")
    schedule = desk.schedule(owner)
    mail.outbox.clear()
    for _press in range(2):
        answer = desk.client.post(desk.link("send_now", schedule.pk))
        report = desk.made()
        desk.run(schedule)
        assert answer["Location"] == desk.link("page", report.pk)
    [told] = mail.outbox
    assert told.to == [owner.email]
    assert "Entries: not loaded" in told.body
    assert "Activity log" in told.body or "not loaded" in told.body


def test_who_is_added_later_is_told_once_and_nobody_twice(desk):
    owner, other = desk.place.staff("owner"), desk.place.staff("facility manager")
    schedule = desk.schedule(owner)
    desk.client.post(desk.link("send_now", schedule.pk))
    desk.made()
    desk.run(schedule)
    desk.client.post(
        desk.link("change", schedule.pk), {"hour": 9, "language": "ja", "recipients": [owner.pk, other.pk]}
    )
    page = said(desk.client.get(desk.link("index")))
    assert "Mondays at 09:00" in page
    mail.outbox.clear()
    desk.client.post(desk.link("send_now", schedule.pk))
    for _time in range(2):
        desk.run(schedule)
    assert [told.to for told in mail.outbox] == [[other.email]]


def test_a_week_begins_on_monday_and_is_due_on_the_next(desk):
    at = datetime(2026, 11, 25, 12, tzinfo=TOKYO)
    since, until = report_worker.last_period(Every.WEEK, at)
    assert content.period_text(since, until) == "2026-11-16 – 2026-11-22"
    assert report_worker.next_run(Every.WEEK, 7, at) == datetime(2026, 11, 30, 7, tzinfo=TOKYO)
    assert report_worker.next_run(Every.MONTH, 7, at) == datetime(2026, 12, 1, 7, tzinfo=TOKYO)
    assert content.period_text(*report_worker.last_period(Every.MONTH, at)) == "2026-10-01 – 2026-10-31"


EDGES = {"00:00:00": True, "00:30:00": True, "23:59:59.999999": True, "-1 23:59:59": False, "+1 00:00:00": False}


@pytest.fixture(params=["UTC", "America/Los_Angeles", "Pacific/Kiritimati"])
def elsewhere(request, monkeypatch):
    """Let the machine and the current person be in another zone."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    with timezone.override(request.param):
        yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(("edge", "belongs"), EDGES.items())
def test_a_day_is_that_of_the_building_wherever_the_server_and_the_browser_are(desk, elsewhere, edge, belongs):
    day = local(timezone.now()).date() - timedelta(days=3)
    shift, _, clock_time = edge.rpartition(" ")
    at = clock(clock_time, day + timedelta(days=int(shift or 0)))
    desk.passes(desk.people[0], at=at)
    loaded(desk.place)
    report = desk.ask("week", first=day, last=day)
    assert desk.rows(report)[0][:3] == [datetime.combine(day, datetime.min.time()), int(belongs), int(belongs)]
    assert f"{day.isoformat()}, Japan time (+09:00)" in desk.page(report)
    listed = desk.ask("entered", first=day, last=day, area=desk.area.area_id)
    assert (desk.people[0].member_name in desk.page(listed)) == belongs


def test_a_schedule_begins_its_day_in_the_building(desk, elsewhere):
    sunday = datetime(2026, 11, 22, 15, 30, tzinfo=UTC)  # Monday 00:30 there
    since, until = report_worker.last_period(Every.WEEK, sunday)
    assert content.period_text(since, until) == "2026-11-16 – 2026-11-22"
    assert report_worker.next_run(Every.WEEK, 7, sunday).isoformat() == "2026-11-23T07:00:00+09:00"
