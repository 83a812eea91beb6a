"""Cells that look like formulas are preserved in exports and imports; other files are not changed."""

import csv
import io
from datetime import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from accessapi.limits import JST
from accessapi.resources import write_moment
from portal.base.files import reading
from portal.base.files.writing import escape_formula, is_portal_file, render_csv, render_workbook, unescape_formula
from portal.domain.people.fields import moment_of_cell

HEADINGS = ["Name", "Member code", "Credentials", "End of use", "Member ID"]
NAMES = ["=1+1", "'=1+1", "''=x", "'plain", "-5", "＋81", "@home", "00042", "\t=x", "O'Brien", "山田 花子"]


def read(kind, content):
    """Return the rows of a file as imports read them."""
    layout = reading.inspect_file(lambda: [content], lambda _heading: False).layout
    _headings, rows = reading.open_rows(layout, lambda: [content])
    return [row.cells for row in rows]


def exported(kind, *rows):
    lines = [HEADINGS, *rows]
    return b"".join(render_csv(lines) if kind == "csv" else render_workbook(lines, "members"))


def saved_by_a_spreadsheet_program(kind, content, form):
    """Open a file of one kind in a spreadsheet program, which shows its cells, and save it as another."""
    if kind == "csv":
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    else:
        sheet = load_workbook(io.BytesIO(content)).active
        rows = [["" if cell is None else cell for cell in row] for row in sheet.iter_rows(values_only=True)]
    target = io.BytesIO()
    if form == "csv":
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        return text.getvalue().encode("utf-8-sig")
    book = Workbook()
    for row in rows:
        book.active.append(row)
        for cell in book.active[book.active.max_row]:
            cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type
    book.save(target)
    return target.getvalue()


@pytest.mark.parametrize("form", ["csv", "xlsx"])
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_no_name_gains_or_loses_an_apostrophe_in_a_spreadsheet_program(kind, form):
    content = exported(kind, *([name, name, "Card", "", "M1"] for name in NAMES))
    assert [cells[:2] for cells in read(kind, content)] == [[name, name] for name in NAMES]
    again = saved_by_a_spreadsheet_program(kind, content, form)
    assert [cells[:2] for cells in read(form, again)] == [[name, name] for name in NAMES]


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
@pytest.mark.parametrize("clock", [(23, 59, 59), (23, 59), (18, 0), (9, 0, 1), (0, 0)])
def test_an_end_of_use_comes_back_to_the_second(kind, clock):
    end = datetime(2027, 3, 31, *clock, tzinfo=JST)
    [row] = read(kind, exported(kind, ["Aiko", "00042", "Card", end, "M1"]))
    assert moment_of_cell(row[3], True, None, end.date()) == write_moment(end)


@given(st.text(max_size=40))
@example("=1+1")
def test_whatever_is_guarded_comes_back_as_it_was(cell):
    assert unescape_formula(escape_formula(cell)) == cell


@pytest.mark.parametrize("first", "=+-@＝＋－＠\t\r\n\v\f")
def test_no_beginning_of_a_formula_goes_out_alive_in_either_width(first):
    assert escape_formula(f"{first}1+1") == f"'{first}1+1"


def test_other_peoples_headings_are_not_ours():
    assert not is_portal_file(["Name", "Member ID", "Status"])
    assert not is_portal_file(["氏名", "会員コード"])


@pytest.mark.parametrize(
    "headings",
    [["会員ID", "認証手段", "有効性"], ["Member ID", "Credentials", "Validity"], ["氏名", "理由（取込対象外）"]],
)
def test_files_with_former_headings_are_still_ours(headings):
    assert is_portal_file(headings)
