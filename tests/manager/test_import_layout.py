"""A manager sees how a file was read, and reads it in another way: encoding, sheet, headings, hidden rows."""

import io

from openpyxl import Workbook

from portal.imports import checking
from tests.manager.test_imports import desk, form_of, inside, job_at, manager, uploaded, url
from tests.support.members import said

__all__ = ["desk", "manager", "url"]


def names_of(desk, there):
    """Return the names that the check finds, with the columns as they are proposed."""
    job = job_at(desk, there)
    with inside(desk):
        checking.check(job.pk)
        return [row.content["name"] for row in desk.rows(job)]


def choose(manager, there, **changed):
    answer = manager.post(f"{there}columns/", {**form_of(manager.get(there)), **changed})
    assert answer.status_code == 302, said(answer)


def workbook(**sheets):
    book, target = Workbook(), io.BytesIO()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(target)
    return target.getvalue()


WESTERN = "Name;Member code\nHélène Sample;1\nRenée Sample;2\nHélène Gérard;3\n".encode("cp1252")


def test_the_encoding_is_shown_and_can_be_changed(desk, manager, url):
    there = uploaded(manager, url, WESTERN)
    page = said(manager.get(there))
    assert "Hélène Gérard" in page
    assert "Windows-1252" in page
    answer = manager.post(f"{there}layout/", {"encoding": "cp932", "heading_line": "1"})
    assert answer.status_code == 302, said(answer)
    page = said(manager.get(there))
    assert "Hélène" not in page
    assert "Choose another encoding." in page
    manager.post(f"{there}layout/", {"encoding": "cp1252", "heading_line": "1"})
    choose(manager, there)
    assert names_of(desk, there) == ["Hélène Sample", "Renée Sample", "Hélène Gérard"]


def test_another_sheet_of_a_workbook_can_be_chosen(desk, manager, url):
    content = workbook(Staff=[["Name", "Member code"], ["Aya", "1"]], Visitors=[["Name", "Member code"], ["Ben", "2"]])
    there = uploaded(manager, url, content, "staff.xlsx")
    manager.post(f"{there}layout/", {"sheet": "Visitors", "heading_line": "1"})
    choose(manager, there)
    assert names_of(desk, there) == ["Ben"]


def test_the_row_of_the_headings_is_shown_and_can_be_changed(desk, manager, url):
    content = workbook(Staff=[["Member list"], ["Printed by", "Name"], ["Name", "Member code"], ["Aya", "1"]])
    there = uploaded(manager, url, content, "staff.xlsx")
    page = said(manager.get(there))
    assert "Row 3: Name, Member code" in page
    assert "2 rows above the headings are skipped." in page
    manager.post(f"{there}layout/", {"heading_line": "2"})
    choose(manager, there, column_0="member_code", column_1="member_name")
    assert names_of(desk, there) == ["Member code", "1"]


def test_hidden_rows_can_be_left_out(desk, manager, url):
    book, target = Workbook(), io.BytesIO()
    for row in (["Name", "Member code"], ["Aya", "1"], ["Ben", "2"]):
        book.active.append(row)
    book.active.row_dimensions[3].hidden = True
    book.save(target)
    there = uploaded(manager, url, target.getvalue(), "staff.xlsx")
    assert "1 hidden row is included." in said(manager.get(there))
    manager.post(f"{there}layout/", {"heading_line": "1", "leaves_out_hidden": "on"})
    choose(manager, there)
    assert names_of(desk, there) == ["Aya"]


def test_an_encoding_that_does_not_fit_changes_nothing(desk, manager, url):
    there = uploaded(manager, url, WESTERN)
    answer = manager.post(f"{there}layout/", {"encoding": "utf-8-sig", "heading_line": "1"})
    assert answer.status_code == 422
    assert "Hélène Gérard" in said(manager.get(there))


def test_a_file_that_breaks_far_below_is_refused_by_the_check_and_not_by_an_error(desk, manager, url):
    rows = "".join(f"n{n},{n},2027-01-01\n" for n in range(1500))
    there = uploaded(manager, url, f'Name,Member code,Use until\n{rows}"a"b,1,2027-01-01\n'.encode())
    choose(manager, there)
    assert names_of(desk, there) == []
    assert "Line 1502 has a quotation mark in the wrong place." in said(manager.get(there))


def test_after_the_start_the_file_is_read_as_it_was(desk, manager, url):
    there = uploaded(manager, url, b"Name,Member code\nAya,1\nBen,2\n")
    choose(manager, there, default_group=group_id(desk))
    names_of(desk, there)
    manager.post(f"{there}start/")
    manager.post(f"{there}layout/", {"heading_line": "2"})
    with inside(desk):
        assert len(desk.rows(job_at(desk, there))) == 2


def group_id(desk):
    with inside(desk):
        return desk.groups[0].membergroup_id
