"""A manager opens a file of the portal in a spreadsheet program: values have types, and the head stays in sight."""

import io
import zipfile
from datetime import date, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl import load_workbook

from accessapi.limits import JST
from portal.base.files import workbooks
from portal.base.files.cells import cell_text
from portal.base.files.workbooks import Sheet, render_parts, render_rows, write_workbook
from portal.base.files.writing import render_csv_lines, render_workbook


def opened(content):
    return load_workbook(io.BytesIO(b"".join(content)))


def sheet_of(*lines, notes=()):
    return opened(render_workbook(lines, "Table", notes)).active


def at(*clock):
    return datetime(2027, 3, 31, *clock, tzinfo=JST)


def shown(*clock):
    return datetime(2027, 3, 31, *clock)  # noqa: DTZ001 - spreadsheets have no zones


#: A value, what a spreadsheet program has in its cell, the format of the cell, and the text of a CSV file.
CELLS = [
    ("00042", "00042", "@", "00042"),
    ("=1+1", "=1+1", "@", "'=1+1"),
    ("+81-90-0000-0000", "+81-90-0000-0000", "@", "'+81-90-0000-0000"),
    ("'=1+1", "'=1+1", "@", "''=1+1"),
    ("2027-03-31", "2027-03-31", "@", "2027-03-31"),
    (12345, 12345, "#,##0", "12345"),
    (-3, -3, "#,##0", "-3"),
    (0.5, 0.5, "General", "0.5"),
    (10**15, "1000000000000000", "@", "1000000000000000"),
    (float("inf"), "inf", "@", "inf"),
    (at(23, 59, 59), shown(23, 59, 59), "yyyy-mm-dd hh:mm:ss", "2027-03-31 23:59:59"),
    (at(23, 59), shown(23, 59), "yyyy-mm-dd hh:mm", "2027-03-31 23:59"),
    (at(0, 0), shown(0, 0), "yyyy-mm-dd hh:mm", "2027-03-31 00:00"),
    (date(2027, 3, 31), shown(), "yyyy-mm-dd", "2027-03-31"),
    (date(1900, 2, 28), "1900-02-28", "@", "1900-02-28"),
    (datetime(1, 1, 1, 9, tzinfo=JST), "0001-01-01 09:00", "@", "0001-01-01 09:00"),
    (timedelta(hours=26, minutes=5, seconds=9.8), timedelta(hours=26, minutes=5, seconds=9), "[h]:mm:ss", "26:05:09"),
    ("", None, "@", ""),
    (None, None, "General", ""),
]


@pytest.mark.parametrize(("value", "found", "shape", "text"), CELLS)
def test_a_cell_has_the_type_of_its_value_and_csv_has_its_text(value, found, shape, text):
    cell = sheet_of(["Head", "More"], [value, "x"])["A2"]
    assert (cell.value, cell.number_format) == (found, shape)
    assert cell.data_type != "f"
    assert b"".join(render_csv_lines([[value, "x"]])).decode() == f"{text},x\r\n"


@given(st.datetimes(datetime(1900, 3, 1), datetime(9999, 12, 31, 23, 59, 59)))  # noqa: DTZ001
@example(datetime(2027, 3, 31, 23, 59, 59, 999_999))  # noqa: DTZ001
def test_a_time_is_never_off_by_a_second(moment):
    exact = moment.replace(microsecond=0)
    assert sheet_of(["When"], [moment])["A2"].value == exact
    assert datetime.fromisoformat(cell_text(moment)) == exact


def test_a_list_of_events_shows_the_seconds_of_every_time():
    rows = [[at(9, 41)], [at(9, 41, 7)]]
    sheet = opened(write_workbook([Sheet("Log", ["Time"], [render_rows(rows, has_seconds=True)])])).active
    assert {cell.number_format for (cell,) in sheet["A2:A3"]} == {"yyyy-mm-dd hh:mm:ss"}
    assert (
        b"".join(render_csv_lines(rows, has_seconds=True)).split() == b"2027-03-31 09:41:00 2027-03-31 09:41:07".split()
    )


def test_the_head_is_bold_stays_in_sight_and_filters_the_rows_but_not_the_notes():
    sheet = sheet_of(["Name", "Code"], ["Aiko", "1"], ["Ben", "2"], notes=["Not loaded: 3", "Log until 09:41"])
    assert [cell.font.bold for cell in sheet[1]] == [True, True]
    assert not sheet["A2"].font.bold
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:B3")
    assert [row[0] for row in sheet.iter_rows(min_row=4, values_only=True)] == ["Not loaded: 3", "Log until 09:41"]


def test_a_table_without_rows_has_its_head_and_notes():
    sheet = sheet_of(["Name", "Code"], notes=["Nothing here"])
    assert (sheet.auto_filter.ref, sheet["A2"].value) == ("A1:B1", "Nothing here")


def test_columns_are_as_wide_as_what_is_in_them_within_bounds():
    head = ["No", "A long heading", "氏名", "When", "Remarks", "Lines"]
    sheet = sheet_of(head, ["1", "x", "髙橋 花子と田中 太郎", at(9, 41, 7), "&" * 500, "one\nof two"])
    widths = {name: each.width for name, each in sheet.column_dimensions.items()}
    assert widths == {"A": 6, "B": 18, "C": 21, "D": 20, "E": 60, "F": 9}


def test_what_is_typed_into_a_column_of_texts_keeps_its_zeros():
    sheet = sheet_of(["Code", "Doors", "Card"], ["00042", 3, ""])
    shapes = [sheet.column_dimensions[name].number_format for name in "ABC"]
    assert shapes == ["@", "General", "@"]
    [name] = [each for each in zipfile.ZipFile(io.BytesIO(book())).namelist() if "sheet1" in each]
    ignored = zipfile.ZipFile(io.BytesIO(book())).read(name).decode()
    assert '<ignoredError sqref="A1:A2" numberStoredAsText="1"/>' in ignored, "no button offers to drop the zeros"


def book():
    return b"".join(render_workbook([["Code"], ["00042"]], "Table"))


def test_a_table_that_is_too_long_goes_on_in_the_next_sheet_with_its_head(monkeypatch):
    monkeypatch.setattr(workbooks, "MAX_ROWS_PER_SHEET", 25)
    parts = [render_rows([[n]] * 10) for n in range(5)]
    title = "A title that is longer than a sheet may have"
    pages = opened(write_workbook([Sheet(title, ["N"], parts, ["Note"]), Sheet("About", (), [render_rows([["x"]])])]))
    assert pages.sheetnames == [title[:31], f"{title[:29]} 2", f"{title[:29]} 3", "About"]
    assert [sheet.auto_filter.ref for sheet in pages] == ["A1:A21", "A1:A21", "A1:A11", None]
    assert [sheet["A1"].value for sheet in pages] == ["N", "N", "N", "x"]
    assert pages.worksheets[2]["A12"].value == "Note"
    monkeypatch.setattr(workbooks, "MAX_BYTES_PER_SHEET", 3 * len(parts[0]) // 2)
    assert len(opened(write_workbook([Sheet("N", ["N"], parts)])).sheetnames) == 5


def test_a_long_table_is_sent_piece_by_piece():
    def endless():
        while True:
            yield ["x" * 100, at(9, 41)]

    pieces = write_workbook([Sheet("Long", ["Text", "Time"], render_parts(endless()))])
    assert sum(len(next(pieces)) for _ in range(50)) > 0
