"""A receptionist's list from another program: columns are chosen on a page if the headings do not say enough."""

import io
import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from openpyxl import Workbook

from portal.domain.jobs.models import Action, Job, Row
from portal.imports.models import ImportFile
from portal.today import erasing
from tenants.scope import tenant_scope
from tests.support.codes import url
from tests.support.members import said


class Desk:
    """A person at the page of lists."""

    def __init__(self, place):
        self.place = place
        self.client = place.client(place.staff("receptionist"))

    def uploaded(self, content, delivery="direct"):
        """Return the address of the uploaded list."""
        file = SimpleUploadedFile("guests", content if isinstance(content, bytes) else content.encode())
        answer = self.client.post(url(self.place, "expected/"), {"file": file, "delivery": delivery})
        assert answer.status_code == 302, said(answer)
        return answer["Location"]

    def orders(self):
        with tenant_scope(self.place.tenant):
            rows = Row.objects.order_by("line")
            return [(row.action, (row.content["order"] or {}).get("name"), row.content["order"]) for row in rows]


@pytest.fixture
def desk(place):
    return Desk(place)


def test_a_list_with_clear_headings_is_checked_at_once(desk):
    there = desk.uploaded("Name,Start,End\nAya,2035-01-01 10:00,12:00\n")
    assert "Issue 1 code" in said(desk.client.get(there))


def test_without_a_name_the_columns_are_chosen_and_remembered(desk):
    there = desk.uploaded("Wer,Start\nAya,2035-01-01 10:00\n")
    page = said(desk.client.get(there))
    assert "Import as" in page
    assert "Default group" not in page
    answer = desk.client.post(f"{there}columns/", {"column_0": "", "column_1": "start"})
    assert answer.status_code == 422
    assert "Choose a column for the name." in said(answer)
    desk.client.post(f"{there}columns/", {"column_0": "name", "column_1": "start"})
    assert "Issue 1 code" in said(desk.client.get(there))
    assert "Issue 1 code" in said(desk.client.get(desk.uploaded("Wer,Start\nBen,2035-01-02 10:00\n")))


def test_another_sheet_has_the_same_limit_of_rows(desk):
    book, target = Workbook(), io.BytesIO()
    for title, count in (("Today", 1), ("All", 501)):
        sheet = book.create_sheet(title)
        for row in [["Name", "Start"], *[[f"Guest {n}", "2035-01-01 10:00"] for n in range(count)]]:
            sheet.append(row)
    book.save(target)
    there = desk.uploaded(target.getvalue())
    answer = desk.client.post(f"{there}layout/", {"sheet": "All", "heading_line": "1"})
    assert answer.status_code == 422
    assert "The file has more than 500 rows." in said(answer)
    assert "Issue 1 code" in said(desk.client.get(there))


def test_parts_of_a_name_are_joined(desk):
    desk.uploaded("姓,名,開始\n田中,愛子,2035-01-01 10:00\n")
    assert [name for _action, name, _order in desk.orders()] == ["田中 愛子"]


def test_dates_that_can_be_read_in_two_ways_are_asked(desk):
    there = desk.uploaded("Name,Start\nAya,3/4/2035 10:00\n")
    form = {"column_0": "name", "column_1": "start"}
    answer = desk.client.post(f"{there}columns/", form)
    assert answer.status_code == 422
    assert "Choose the order." in said(answer)
    desk.client.post(f"{there}columns/", {**form, "date_order": "dmy"})
    assert desk.orders()[0][2]["start"].startswith("2035-04-03T10:00")


@pytest.mark.parametrize(
    ("start", "found"),
    [
        ("令和17年3月1日 午後1時", "2035-03-01T13:00"),
        ("R17.3.1 13時半", "2035-03-01T13:30"),
        ("20350301 1000", "2035-03-01T10:00"),
        ("2035/3/1 1:00 PM", "2035-03-01T13:00"),
        ("２０３５年３月１日　１０：００", "2035-03-01T10:00"),
    ],
)
def test_times_are_read_as_reception_writes_them(desk, start, found):
    desk.uploaded(f"Name,Start\nAya,{start}\n")
    assert desk.orders()[0][2]["start"].startswith(found)


@pytest.mark.parametrize("text", ["R8.11.32", "next week", "2035-02-30 10:00"])
def test_a_time_that_is_not_read_is_quoted(desk, text):
    there = desk.uploaded(f"Name,Start\nAya,{text}\n")
    assert [action for action, _name, _order in desk.orders()] == [Action.REFUSED]
    assert f"“{text}”" in said(desk.client.get(there))


def test_a_cell_with_an_error_of_the_spreadsheet_is_shown_as_it_is(desk):
    there = desk.uploaded("Name,Start\n#N/A,2035-01-01 10:00\n")
    page = said(desk.client.get(there))
    assert "#N/A" in page
    assert "an error of the spreadsheet" in page


@pytest.mark.parametrize("address", ["taro..test@docomo.ne.jp", "jiro.@docomo.ne.jp", "ume＠example.com"])
def test_addresses_of_carriers_are_sent_as_they_are(desk, address):
    desk.uploaded(f"Name,E-mail,Start\nAya,{address},2035-01-01 10:00\n", delivery="mail")
    assert desk.orders()[0][2]["email"] == address.replace("＠", "@")


def test_the_file_of_a_list_is_deleted_with_its_guests(desk):
    there = desk.uploaded("Name,Start,End\nAya,2035-01-01 10:00,12:00\n")
    assert re.search(r"/expected/\d+/", there)
    with tenant_scope(desk.place.tenant):
        assert ImportFile.objects.count() == 1
        ago = timezone.now() - timedelta(days=3000)
        Job.objects.update(created_at=ago, last_end=ago)
        erasing.erase(desk.place.tenant)
        assert not ImportFile.objects.exists()
