"""Reports: created by a worker, shown on a page, as PDF and as a workbook, and sent on a schedule."""

import re
import uuid
from datetime import timedelta
from io import BytesIO
from unittest.mock import patch

import pytest
from django.utils import timezone
from openpyxl import load_workbook
from pypdfium2 import PdfDocument

from portal.base.storage.models import StoredFile
from portal.base.ui.times import local
from portal.domain.alerts.models import DetectionState
from portal.domain.history import partitions
from portal.domain.history.models import History
from portal.domain.people.models import Member
from portal.domain.visits.models import DeskSettings, Visit
from portal.reports import content, report_files, report_worker
from portal.reports.content import ReportHead, ReportTable
from portal.reports.kinds import KINDS
from portal.reports.models import Report
from portal.today import erasing
from tenants import audit
from tenants.models import AuditEntry
from tenants.roles import FacilityManager
from tenants.sentences import coded_sentence
from tests.support.log import loaded
from tests.support.members import said
from tests.support.reports import ReportsDesk
from tests.support.reviews import option
from tests.support.rounds import round_of


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
    assert "Creating the report. It appears here when it is ready." in said(waiting)
    [seen] = re.findall(r'data-version="(\w+)" hx-swap', waiting.content.decode())
    with desk.scope():
        report = Report.objects.latest("pk")
    assert desk.client.get(desk.link("download", report.pk, "pdf")).status_code == 404
    progress = desk.link("progress", report.pk)
    assert desk.client.get(progress, headers={"X-Version": seen}).status_code == 204
    desk.made()
    shown = desk.client.get(progress, headers={"X-Version": seen})
    assert "Day by day" in said(shown)
    assert b"hx-get" not in shown.content


def test_a_form_that_is_sent_twice_asks_for_one_report(desk):
    told = desk.days()
    first, second = (desk.client.post(desk.link("new", "week"), told)["Location"] for _time in range(2))
    assert first == second


def test_days_that_are_none_are_refused_with_what_was_typed(desk):
    for first, last, why in (
        ("2026-01-02", "2026-01-01", "Choose a last day on or after the first day."),
        ("2024-01-01", "2026-01-01", "One report covers up to 366 days."),
        ("2026-01-01", "2999-01-01", "Choose today or an earlier day."),
    ):
        answer = desk.client.post(desk.link("new", "week"), desk.days(first=first, last=last))
        assert why in said(answer)
        assert first in answer.content.decode()


def test_what_looks_like_a_formula_stays_a_text_in_the_workbook(desk):
    desk.passes(desk.people[0])
    with desk.scope():
        Member.objects.filter(pk=desk.people[0].pk).update(member_name="=HYPERLINK(0)")
    book = load_workbook(BytesIO(desk.file(desk.ask("entered"), "xlsx")))
    [cell] = [row[0] for row in book.worksheets[1].iter_rows(min_row=2)]
    assert (cell.data_type, cell.value) == ("s", "=HYPERLINK(0)")


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
    assert "Members at least 1" in page
    assert f"Rights of {len(desk.people) - 1} members not loaded" in page


def test_every_page_of_a_pdf_has_the_period_and_how_complete_it_is(desk):
    with desk.scope():
        partitions.ensure_partitions([timezone.now() - timedelta(days=2)])
        for number in range(150):
            History.objects.create(
                history_id=str(uuid.uuid4()), at=timezone.now() - timedelta(days=2, seconds=number), category="normal",
                member_id=f"m-{number}", member_name="佐藤 とても長い名前の太郎", device_id="d-1",
            )  # fmt: skip
    report = desk.ask("entered")
    pages = texts(desk.file(report, "pdf"))
    assert len(pages) > 1
    for number, text in enumerate(pages, start=1):
        assert content.period_text(report.since, report.until) in text
        assert "not loaded" in text
        assert f"{number} / {len(pages)}" in text


def texts(pdf):
    """Return the text of each page of a PDF."""
    with PdfDocument(pdf) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def test_rights_that_nobody_used_are_named_with_their_members(desk):
    used, idle = desk.people[0], desk.people[1]
    for member in (used, idle):
        desk.know(member, option(desk.area.area_id))
    desk.passes(used)
    report = desk.ask("unused")
    [row] = [row for row in desk.rows(report, 1) if row[0] == desk.area.area_name]
    assert row[1:] == ["at least 2", "at least 1", "at most 1 of those loaded"]
    assert [(row[0], row[3]) for row in desk.rows(report, 2)] == [(idle.member_name, desk.area.area_name)]
    page = desk.page(report)
    assert "Unused access rights at most 1 of those loaded" in page
    assert "Members with unused credentials at most" in page


def test_numbers_by_area_are_exact_where_all_is_loaded(desk):
    loaded(desk.place)
    for member in desk.people:
        desk.know(member, option(desk.area.area_id) if member in desk.people[:2] else {"default_mode": "deny_all"})
    desk.passes(desk.people[0])
    [row] = [row for row in desk.rows(desk.ask("unused"), 1) if row[0] == desk.area.area_name]
    assert row[1:] == [2, 1, 1]


def test_a_right_to_all_areas_is_unused_where_no_area_was_used(desk):
    used, idle = desk.people[0], desk.people[1]
    for member in (used, idle):
        desk.know(member, {"default_mode": "allow_all"})
    desk.passes(used)
    assert [row[0] for row in desk.rows(desk.ask("unused"), 2)] == [idle.member_name]


def test_who_was_only_refused_has_used_nothing_and_who_came_later_had_not_yet(desk):
    refused, later, used = desk.people[:3]
    desk.passes(refused, category="suspicious")
    desk.passes(later, days=0)
    desk.passes(used)
    with desk.scope():
        Member.objects.filter(pk__in=[each.pk for each in (refused, later, used)]).update(
            has_card=True, last_seen_at=timezone.now()
        )
    idle = [row[0] for row in desk.rows(desk.ask("unused"))]
    assert {refused.member_name, later.member_name} <= set(idle)
    assert used.member_name not in idle


def test_of_an_area_that_is_gone_nobody_is_said_to_have_entered(desk):
    desk.passes(desk.people[0])
    now = timezone.now()
    with desk.scope():
        report = Report.objects.create(
            kind="entered", choices={"area": "gone", "area_name": "旧倉庫"}, language="en", by=desk.place.owner,
            since=now - timedelta(days=7), until=now, due_at=now,
        )  # fmt: skip
        report_worker.create_report(report.pk)
    page = desk.page(report)
    assert "This area has been deleted." in page
    assert desk.people[0].member_name not in page


def test_days_that_are_not_loaded_are_no_days_without_entries(desk):
    desk.passes(desk.people[0], 3)
    days = {row[0]: row[1] for row in desk.rows(desk.ask("week"))}
    assert sorted(set(days.values())) == ["at least 3", "not loaded"]


def test_alerts_of_a_time_in_which_nobody_watched_for_them_are_not_said_to_be_none(desk):
    with desk.scope():
        DetectionState.objects.update_or_create(tenant=desk.place.tenant, defaults={"since": timezone.now()})
    page = desk.page(desk.ask("alerts"))
    assert "Alerts not monitored Assigned not monitored Never assigned not monitored" in page
    assert "Alerts were not monitored in this period." in page


def test_days_before_the_portal_are_not_said_to_be_days_without_alerts(desk):
    loaded(desk.place)
    now = timezone.now()
    with desk.scope():
        DetectionState.objects.update_or_create(tenant=desk.place.tenant, defaults={"since": now - timedelta(days=3)})
        desk.place.tenant.created_at = now - timedelta(days=3)
        desk.place.tenant.save(update_fields=["created_at"])
    report = desk.ask("week")
    rows = desk.rows(report)
    assert [row[4] for row in rows] == ["not monitored"] * 4 + ["unknown", 0, 0]
    assert [row[3] for row in rows] == [row[5] for row in rows] == ["not recorded"] * 5 + [0, 0]
    page = desk.page(report)
    assert "Alerts unknown Since the portal was connected" in page
    assert "Guests and staff actions since the portal was connected (" in page


def test_numbers_are_aligned_as_numbers_where_some_or_all_are_in_words(desk):
    html = desk.client.get(desk.link("page", desk.ask("week").pk)).content.decode()
    rows = re.findall(r"(?s)<tr>(.*?)</tr>", html.partition('class="report-lines"')[2].partition("</table>")[0])
    assert rows
    for row in rows:
        assert re.findall(r"<t[dh](?: scope=\"col\")?( class=\"k-number\")?>", row)[1:] == [' class="k-number"'] * 5


def test_many_gaps_of_the_log_leave_room_for_the_lines(desk):
    head = ReportHead(
        "Who entered",
        "",
        "2026-01-01",
        sheets=[ReportTable("People", ["Name"])],
        complete=[f"Gap {n}." for n in range(200)],
    )
    drawn = texts(report_files.draw_pdf(head, [(0, [f"Person {n}"]) for n in range(40)], tenant="T", made=""))
    assert len(drawn) <= 3
    assert all("more on page 1" in page for page in drawn)
    assert "Gap 199." in drawn[0]


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
    assert "Details were deleted on" in page
    assert "Visits at least 1" in page
    assert desk.client.get(desk.link("download", report.pk, "pdf")).status_code == 404
    again = said(desk.client.get(desk.link("new", "guests") + f"?as={report.pk}"))
    assert "Create report" in again
    assert desk.client.get(desk.link("new", "guests") + "?as=" + "9" * 5000).status_code == 200


def test_what_staff_did_is_counted_once_and_in_words(desk):
    desk.client.post(desk.link("new", "keys"), {"nonce": str(uuid.uuid4())})
    with desk.scope():
        for action in ("operate_door", "operate_door.succeeded"):
            audit.record(
                tenant=desk.place.tenant, by=desk.place.owner, action=action, target="pass_controller:d-1",
                summary=coded_sentence("door.unlock", door="d-1"), intent_id="5",
            )  # fmt: skip
    report = desk.ask("staff", last=local(timezone.now()).date())
    found = {row[2]: row[3] for row in desk.rows(report)}
    assert found["Operate door lock"] == 1
    assert found["Report requested"] == 1
    assert not any("." in name for name in found)


def test_reports_are_deleted_after_their_time(desk):
    report = desk.ask("keys")
    with desk.scope():
        Report.objects.filter(pk=report.pk).update(
            requested_at=timezone.now() - timedelta(days=report_worker.RETENTION_DAYS + 1)
        )
    round_of("old_reports")
    assert desk.client.get(desk.link("page", report.pk)).status_code == 404
    with desk.scope():
        assert AuditEntry.objects.filter(action="report.deleted").count() == 1
        assert not StoredFile.objects.filter(delete_at=None).exists()


def test_a_week_is_shown_beside_the_one_before_with_its_bars(desk):
    desk.passes(desk.people[0], 3)
    desk.passes(desk.people[0], days=9)
    page = desk.client.get(desk.link("page", desk.ask("week").pk))
    assert "Entries at least 3 Previous period: at least 1" in said(page)
    assert b"chart-bar" in page.content


def test_a_report_is_not_found_by_whoever_may_not_see_what_it_shows(desk):
    report, schedule = desk.ask("staff"), desk.schedule(desk.user, kind="staff")
    guard = desk.place.client(desk.place.staff("guard"))
    assert guard.get(desk.link("page", report.pk)).status_code in (403, 404)
    with patch.object(FacilityManager, "permissions", FacilityManager.permissions - {"audit_view"}):
        for address in (desk.link("page", report.pk), desk.link("progress", report.pk), desk.link("new", "staff")):
            assert desk.client.get(address).status_code == 404
        assert desk.client.get(desk.link("download", report.pk, "pdf")).status_code == 404
        for act in ("change", "end", "send_now"):
            assert desk.client.post(desk.link(act, schedule.pk)).status_code == 404
        page = said(desk.client.get(desk.link("index")))
    assert str(KINDS["staff"].title) not in page


def test_an_auditor_reads_reports_and_sets_up_none(desk):
    schedule = desk.schedule(desk.user)
    auditor = desk.place.client(desk.place.staff("auditor"))
    assert auditor.get(desk.link("index")).status_code == 200
    for name, more in (("schedule", "week"), ("change", schedule.pk), ("end", schedule.pk), ("send_now", schedule.pk)):
        assert auditor.post(desk.link(name, more)).status_code == 403


def test_a_report_is_kept_until_its_time_is_over(desk):
    report = desk.ask("keys")
    with desk.scope():
        Report.objects.filter(pk=report.pk).update(
            requested_at=timezone.now() - timedelta(days=report_worker.RETENTION_DAYS - 1)
        )
    round_of("old_reports")
    with desk.scope():
        assert Report.objects.filter(pk=report.pk).exists()
        old = timezone.now() - timedelta(days=report_worker.RETENTION_DAYS + 1)
        Report.objects.filter(pk=report.pk).update(requested_at=old, due_at=timezone.now())
    round_of("old_reports")
    with desk.scope():
        assert Report.objects.filter(pk=report.pk).exists()


def test_who_takes_a_report_along_is_written_down(desk):
    report = desk.ask("keys")
    desk.file(report, "pdf")
    with desk.scope():
        [entry] = AuditEntry.objects.filter(action="report.downloaded")
    assert (entry.by, entry.target, entry.after) == (desk.user, f"report:{report.pk}", {"form": "pdf"})


def test_a_report_that_cannot_be_made_is_given_up_after_five_tries(desk):
    desk.client.post(desk.link("new", "keys"), desk.days())
    with desk.scope():
        Report.objects.update(tries=report_worker.MAX_TRIES)
    report = desk.made()
    with desk.scope():
        report.refresh_from_db()
    assert (report.trouble, report.due_at, report.made_at) == ("failed", None, None)
