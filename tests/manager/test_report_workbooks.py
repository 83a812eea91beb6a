"""A manager opens a report in a spreadsheet program: times, durations and numbers can be sorted and added."""

from datetime import datetime, timedelta
from io import BytesIO

import pytest
from django.utils import timezone
from openpyxl import load_workbook

from portal.base.ui.times import local
from portal.domain.alerts.models import Alert
from portal.domain.visits.models import Visit
from portal.reports import report_files
from portal.reports.content import ReportHead, ReportTable
from portal.reports.kinds import KINDS
from tests.support.reports import ReportsDesk


@pytest.fixture
def desk(place):
    return ReportsDesk(place)


def book_of(desk, report):
    return load_workbook(BytesIO(desk.file(report, "xlsx")))


def clock(moment):
    """Return a time as spreadsheets have it: Japan's clock, without a zone."""
    return local(moment).replace(tzinfo=None, microsecond=0)


def some_alerts(desk):
    """Create two closed alerts of one kind, assigned after 5 and 15 minutes, and an open one of another kind."""
    began = timezone.now() - timedelta(days=2)
    facts = {"kind": "forced", "severity": 3, "weight": 3, "last_at": began, "ended_at": began}
    with desk.scope():
        for minutes in (5, 15):
            taken = began + timedelta(minutes=minutes, seconds=7)
            Alert.objects.create(
                subject=f"door:{minutes}", began_at=began, taken_at=taken, closed_at=taken, taken_by=desk.place.owner,
                **facts,
            )  # fmt: skip
        Alert.objects.create(subject="door:x", began_at=began, **{**facts, "kind": "held", "ended_at": None})
    return began


def test_the_times_until_alerts_were_assigned_can_be_added_and_read(desk):
    began = some_alerts(desk)
    report = desk.ask("alerts")
    _about, by_kind, all_alerts = book_of(desk, report)
    median, longest = by_kind["D2"], by_kind["E2"]
    assert (median.value, longest.value) == (timedelta(minutes=10, seconds=7), timedelta(minutes=15, seconds=7))
    assert {median.number_format, longest.number_format} == {"[h]:mm:ss"}
    assert (by_kind["D3"].value, by_kind["E3"].value) == (None, None)
    assert {row[0] for row in all_alerts.iter_rows(min_row=2, values_only=True)} == {clock(began)}
    assert "0:10:07" in desk.page(report)
    assert f"{local(began):%Y-%m-%d %H:%M}" in desk.page(report)


def test_the_hours_of_visits_are_times_and_a_guest_who_never_came_has_none(desk):
    start = timezone.now() - timedelta(days=2)
    with desk.scope():
        Visit.objects.create(
            guest_id="0042", guest_name="0042", company="007", use_date_start=start,
            use_date_end=start + timedelta(hours=3),
        )  # fmt: skip
    _about, visits, _by_host = book_of(desk, desk.ask("guests"))
    [row] = visits.iter_rows(min_row=2, max_row=2, values_only=True)
    assert row == (clock(start), clock(start + timedelta(hours=3)), "0042", "007", None, None, None)


def test_days_and_their_numbers_are_no_texts_and_uncertain_numbers_are(desk):
    desk.passes(desk.people[0], 3)
    _about, by_day = book_of(desk, desk.ask("week"))
    rows = list(by_day.iter_rows(min_row=2))
    assert {row[0].number_format for row in rows} == {"yyyy-mm-dd"}
    assert isinstance(rows[0][0].value, datetime)
    assert {row[1].value for row in rows} == {"at least 3", "not loaded"}


def test_the_first_and_last_entry_are_times_and_the_figures_are_numbers(desk):
    desk.passes(desk.people[0], 3)
    about, people = book_of(desk, desk.ask("entered"))
    [row] = people.iter_rows(min_row=2)
    assert [cell.data_type for cell in row[3:]] == ["n", "d", "d"]
    some_alerts(desk)
    figures = {row[0]: row[1] for row in book_of(desk, desk.ask("alerts"))["About"].iter_rows(values_only=True)}
    assert (figures["Assigned"], figures["Never assigned"]) == (2, 1)
    assert "at least 1" in {row[1] for row in about.iter_rows(values_only=True)}


def test_the_tables_of_every_kind_have_a_head_that_stays(desk):
    for kind in KINDS:
        _about, *sheets = book_of(desk, desk.ask(kind, area=desk.area.area_id))
        assert {sheet.freeze_panes for sheet in sheets} == {"A2"}, kind
        assert all(cell.font.bold for sheet in sheets for cell in sheet[1]), kind
        assert all(sheet.auto_filter.ref.startswith("A1:") for sheet in sheets), kind


def test_each_table_has_its_own_lines_also_between_empty_tables():
    head = ReportHead("T", "", "2026", sheets=[ReportTable(title, ["N"]) for title in ("One", "Two", "Three", "Four")])
    lines = [(1, ["a"]), (1, ["b"]), (3, ["c"])]
    book = load_workbook(BytesIO(b"".join(report_files.write_report_workbook(head, lines, tenant="T", made=""))))
    found = {sheet.title: [row[0].value for row in sheet.iter_rows(min_row=2)] for sheet in book.worksheets[1:]}
    assert found == {"One": [], "Two": ["a", "b"], "Three": [], "Four": ["c"]}
    with pytest.raises(ValueError, match="not in order"):
        b"".join(report_files.write_report_workbook(head, [(1, ["a"]), (0, ["b"])], tenant="T", made=""))
