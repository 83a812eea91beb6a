"""XLSX files: cells as people see them, unchanged values, and archives that are refused before they expand too much."""

import io
import tracemalloc
import zipfile
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from portal.base.files import file_limits, reading
from portal.base.files.file_limits import FileFault
from portal.base.files.writing import REASON_HEADINGS, render_workbook

# All that XML can hold; another test has the escapes of XLSX (_x0041_).
TEXT = st.text(st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="_\ufffe\uffff"), max_size=40)
ANY = st.characters(blacklist_categories=["Cs"], blacklist_characters="_\x00\x85\ufffe\uffff")


def saved(book: Workbook) -> bytes:
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def read(content: bytes):
    headings, rows = reading.open_rows(reading.Layout("xlsx"), lambda: [content])
    return headings, [(line.number, line.cells) for line in rows]


def book_of(*rows, formats=()):
    book = Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for place, code in formats:
        sheet[place].number_format = code
    return saved(book)


@given(rows=st.lists(st.tuples(TEXT, TEXT).map(list), min_size=1, max_size=4))
def test_every_text_comes_through_unchanged(rows):
    book = Workbook()
    book.active.append(["name", "code"])
    for number, row in enumerate([["anchor", "00042"], *rows], start=2):
        for place, text in enumerate(row, start=1):
            cell = book.active.cell(number, place)
            cell.value, cell.data_type = text, "s"
    _headings, found = read(saved(book))
    wanted = [row for row in [["anchor", "00042"], *rows] if any(cell.strip() for cell in row)]
    assert [[*cells, "", ""][:2] for _line, cells in found] == wanted


@given(
    rows=st.lists(
        st.lists(
            st.text(
                st.characters(blacklist_categories=["Cs"], blacklist_characters="_\x00\x85\ufffe\uffff"), max_size=30
            ),
            min_size=2,
            max_size=2,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_our_own_download_comes_back_with_every_value_unchanged(rows):
    lines = [["氏名", "カード", REASON_HEADINGS["en"]], *([*row, "because"] for row in rows)]
    headings, found = read(b"".join(render_workbook(lines, "rows")))
    assert headings == lines[0]
    assert [cells for _line, cells in found] == lines[1:]


def test_our_own_download_can_be_read_whatever_characters_it_holds():
    _headings, found = read(b"".join(render_workbook([["氏名"], ["a\ufffeb\uffff"]], "rows")))
    assert [cells for _line, cells in found] == [["a\ufffeb\uffff"]]


def test_cells_come_out_as_people_see_them():
    content = book_of(
        ["whole", "part", "zeros", "day", "moment", "yes", "text"],
        [42, 0.5, 42, date(2026, 12, 1), datetime(2026, 12, 1, 9, 0), True, "007"],  # noqa: DTZ001 - no zones
        formats=[("C2", "00000")],
    )
    _headings, found = read(content)
    assert found[0][1] == ["42", "0.5", "00042", "2026-12-01", "2026-12-01 09:00:00", "TRUE", "007"]


def test_digits_that_the_spreadsheet_gave_up_are_never_guessed():
    content = book_of(["card"], [1234567890123456], [123456789012345])
    _headings, found = read(content)
    assert [reading.cell_fault(cells[0]) for _line, cells in found] == ["digits_lost", ""]
    assert found[1][1] == ["123456789012345"]


def test_the_first_visible_sheet_is_read_and_rows_keep_their_numbers():
    book = Workbook()
    book.active.title, book.active.sheet_state = "hidden", "hidden"
    sheet = book.create_sheet("shown")
    sheet["A1"], sheet["A5"], sheet["C5"] = "name", "x", "y"
    headings, found = read(saved(book))
    assert headings == ["name"]
    assert found == [(5, ["x", "", "y"])]


def test_readings_beside_japanese_names_are_left_out():
    content = repacked(sharing(), "xl/sharedStrings.xml", STRINGS.encode())
    assert [cells for _line, cells in read(content)[1]] == [["田"], ["田中"]]


STRINGS = (
    '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>name</t></si>'
    "<si><t>田</t><rPh sb='0' eb='2'><t>タナカ</t></rPh></si><si><r><t>田</t></r><r><t>中</t></r></si></sst>"
)


def sharing() -> bytes:
    """Return a workbook as Excel writes it, with its texts in a separate part."""
    cells = b'<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c></row>'
    cells += b'<row r="3"><c r="A3" t="s"><v>2</v></c></row>'
    return repacked(book_of(["name"], ["X"]), "xl/worksheets/sheet1.xml", SHEET % cells)


def repacked(content: bytes, name: str, part: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for each in {*old.namelist(), name}:
            new.writestr(each, part if each == name else old.read(each))
    return target.getvalue()


SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'


@pytest.mark.parametrize(
    ("part", "body", "word"),
    [
        ("xl/worksheets/sheet1.xml", lambda: SHEET % (b" " * (file_limits.MAX_SHEET_BYTES + 1)), "bomb"),
        ("xl/sharedStrings.xml", lambda: b"<sst>" + b" " * file_limits.MAX_STRINGS_BYTES + b"</sst>", "bomb"),
        ("xl/styles.xml", lambda: b"<s>" + b" " * file_limits.MAX_SMALL_PART_BYTES + b"</s>", "bomb"),
        ("xl/styles.xml", lambda: b"<s>" + b"<a/>" * 1_000_000 + b"</s>", "bomb"),
        ("xl/workbook.xml", b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>', "bomb"),
        ("xl/worksheets/sheet1.xml", b"<worksheet><broken", "xlsx"),
        ("xl/worksheets/sheet1.xml", b'<?xml version="1.0" encoding="nothing"?><worksheet/>', "xlsx"),
        ("xl/workbook.xml", b'<?xml version="1.0" encoding="cp932"?><workbook/>', "xlsx"),
        (
            "xl/worksheets/sheet1.xml",
            SHEET % (b'<row r="1"><c r="A1" t="str"><v>' + b"x" * 100_000 + b"</v></c></row>"),
            "cell",
        ),
        ("xl/worksheets/sheet1.xml", SHEET % b'<row r="1"><c r="XFD1" t="str"><v>x</v></c></row>', "columns"),
    ],
)
def test_what_would_burst_is_refused_within_little_memory(part, body, word):
    content = repacked(sharing(), part, body() if callable(body) else body)
    tracemalloc.start()
    with pytest.raises(FileFault) as refused:
        read(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert refused.value.code == word
    assert peak < 100_000_000


def test_an_archive_of_more_parts_than_any_workbook_has_is_refused():
    target = io.BytesIO(sharing())
    with zipfile.ZipFile(target, "a") as book:
        for number in range(file_limits.MAX_PARTS):
            book.writestr(f"xl/media/{number}.png", b"")
    with pytest.raises(FileFault) as refused:
        read(target.getvalue())
    assert refused.value.code == "bomb"


def test_a_row_of_endless_empty_cells_costs_no_memory():
    content = repacked(
        book_of(["name"], ["X"]), "xl/worksheets/sheet1.xml", SHEET % (b'<row r="1">' + b"<c/>" * 100_000 + b"</row>")
    )
    tracemalloc.start()
    with pytest.raises(FileFault):
        read(content)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("content", [b"PK\x03\x04rubbish", b"PK\x03\x04" + b"\x00" * 500])
def test_an_archive_that_is_none_is_refused(content):
    with pytest.raises(FileFault) as refused:
        read(content)
    assert refused.value.code == "xlsx"


def test_a_zip_that_is_no_workbook_is_refused():
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(FileFault) as refused:
        read(target.getvalue())
    assert refused.value.code == "zip"
