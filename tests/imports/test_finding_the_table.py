"""The table of a file is found: its sheet, its headings, its merged cells, and what is hidden."""

import io
import tracemalloc

import pytest
from openpyxl import Workbook

from portal.base.files import file_limits, reading
from portal.base.files.file_limits import FileFault
from portal.base.files.reading import Layout, Line
from tests.support import workbooks
from tests.support.workbooks import number, sheet, text, texts

KNOWN = {"Name", "Code", "Group", "Start", "End", "氏名"}
HEADINGS = texts("Name", "Code", "Group")


def inspected(content: bytes, wanted: Layout | None = None) -> reading.FileInfo:
    return reading.inspect_file(lambda: [content], KNOWN.__contains__, wanted)


def lines(content: bytes, layout: Layout | None = None) -> list[Line]:
    return list(reading.open_rows(layout or inspected(content).layout, lambda: [content])[1])


def values(content: bytes) -> list[tuple[int, list[str]]]:
    return [(line.number, line.cells) for line in lines(content)]


def book(*rows: str, **more: str) -> bytes:
    return workbooks.workbook({"Members": sheet(*rows, **more)})


@pytest.mark.parametrize(
    ("above", "heading_line"),
    [
        ([], 1),
        ([texts("Member list, April 2027")], 2),
        ([texts("Member list, April 2027"), ""], 3),
        ([texts("Name of the company"), texts("Group", "", ""), texts("Printed", "2027-04-01")], 4),
        ([texts(f"Note {line}") for line in range(9)], 10),
        ([*([""] * 30), texts("List")], 32),
    ],
)
def test_the_headings_are_found_below_a_title(above, heading_line):
    content = book(*above, HEADINGS, texts("Ann", "1", "Staff"))
    info = inspected(content)
    assert (info.layout.heading_line, info.headings) == (heading_line, ["Name", "Code", "Group"])
    assert info.sample == [["Ann", "1", "Staff"]]
    assert values(content) == [(heading_line + 1, ["Ann", "1", "Staff"])]
    assert (heading_line, ["Name", "Code", "Group"]) in info.top_lines


@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "utf-16"])
def test_the_headings_of_a_csv_are_found_below_a_title(encoding):
    content = "会員名簿,,\r\n\r\n作成日,2027-04-01,\r\n氏名,Code,Group\r\n田中,1,A\r\n".encode(encoding)
    info = inspected(content)
    assert (info.layout.heading_line, info.headings) == (4, ["氏名", "Code", "Group"])
    assert values(content) == [(5, ["田中", "1", "A"])]
    assert [number for number, _cells in info.top_lines] == [1, 3, 4, 5]


def test_without_a_known_heading_the_first_row_counts():
    info = inspected(b"\n\nVorname,Nachname\nAnn,Lee\n")
    assert (info.layout.heading_line, info.headings) == (3, ["Vorname", "Nachname"])


def test_a_row_of_headings_that_is_repeated_counts_once():
    assert inspected(book(HEADINGS, texts("Ann"), HEADINGS, texts("Bob"))).layout.heading_line == 1


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_person_chooses_another_row_of_headings(kind):
    content = b"Name,Code\nNom,Numero\nAnn,1\n" if kind == "csv" else book(HEADINGS, texts("Nom"), texts("Ann"))
    info = inspected(content, Layout(kind, heading_line=2))
    assert (info.layout.heading_line, info.headings[0], info.sample[0][0]) == (2, "Nom", "Ann")
    assert [line.number for line in lines(content, info.layout)] == [3]


def test_a_layout_can_be_stored():
    layout = Layout("csv", "cp932", ";", "", 4, leaves_out_hidden=True)
    assert Layout.from_json(layout.as_json()) == layout


PEOPLE = sheet(HEADINGS, texts("Ann", "1", "Staff"))
EMPTY = sheet()


@pytest.mark.parametrize(
    ("sheets", "chosen"),
    [
        ({"Cover": sheet(texts("Our company")), "People": PEOPLE}, "People"),
        ({"Cover": EMPTY, "People": PEOPLE, "Old": PEOPLE}, "People"),
        ({"Cover": sheet(texts("Name", "Mirai Ltd."), texts("Date")), "People": PEOPLE}, "People"),
        ({"April": PEOPLE, "May": sheet(texts("Name", "Code", "Group", "Start"), texts("Bob"))}, "April"),
        ({"First": EMPTY, "Second": sheet(texts("Vorname"), texts("Ann")), "Third": EMPTY}, "Second"),
        ({"Formats only": sheet('<c s="1"/>' * 3), "People": PEOPLE}, "People"),
    ],
)
def test_the_sheet_with_known_headings_is_chosen(sheets, chosen):
    info = inspected(workbooks.workbook(sheets))
    assert (info.layout.sheet, info.sheets) == (chosen, list(sheets))


def test_a_person_chooses_another_sheet():
    content = workbooks.workbook({"April": PEOPLE, "May": sheet(texts("Title"), HEADINGS, texts("Bob"))})
    info = inspected(content, Layout("xlsx", sheet="May", heading_line=0))
    assert (info.layout.sheet, info.layout.heading_line, info.sample) == ("May", 2, [["Bob"]])
    assert [line.cells for line in lines(content, info.layout)] == [["Bob"]]


def test_hidden_sheets_are_not_offered():
    content = workbooks.workbook({"Lists": PEOPLE, "People": PEOPLE}, hidden=["Lists"])
    assert inspected(content).sheets == ["People"]


@pytest.mark.parametrize(
    ("sheets", "wanted", "sentence"),
    [
        ({"A": EMPTY, "B": EMPTY}, "", "The file is empty."),
        ({"A": EMPTY, "B": PEOPLE}, "A", "The sheet “A” is empty. Choose another sheet."),
        ({"A": PEOPLE}, "Gone", "The file has no visible sheet “Gone”. Choose another sheet."),
        ({"A": sheet(HEADINGS)}, "", "The file has headings but no rows."),
    ],
)
def test_a_sheet_without_rows_is_refused(sheets, wanted, sentence):
    with pytest.raises(FileFault) as refused:
        inspected(workbooks.workbook(sheets), Layout("xlsx", sheet=wanted, heading_line=0))
    assert file_limits.fault_text(refused.value.code, refused.value.values) == sentence


def merged(*ranges: str) -> str:
    return f"<mergeCells>{''.join(f'<mergeCell ref={chr(34)}{each}{chr(34)}/>' for each in ranges)}</mergeCells>"


def people(*groups: str) -> list[str]:
    return [HEADINGS, *(texts(f"P{place}", str(place), group) for place, group in enumerate(groups, start=2))]


@pytest.mark.parametrize(
    ("ranges", "groups", "read", "noted"),
    [
        (["C2:C4"], ["A", "", ""], ["A", "A", "A"], [3, 4]),
        (["C2:C3", "C4:C5"], ["A", "", "B", "", "C"], ["A", "A", "B", "B", "C"], [3, 5]),
        (["C2:D3"], ["A", ""], ["A", "A"], [3]),
        (["C3:C200"], ["A", "B", "", ""], ["A", "B", "B", "B"], [4, 5]),
        (["C2:C3"], ["", ""], ["", ""], []),
        (["A2:B2"], ["A", ""], ["A", ""], []),
        # Headings over two rows are not people.
        (["C1:C2"], ["", "B"], ["", "B"], []),
    ],
)
def test_a_merged_cell_counts_for_all_its_rows(ranges, groups, read, noted):
    found = lines(book(*people(*groups), after=merged(*ranges)))
    assert [[*line.cells, "", "", ""][2] for line in found] == read
    assert [line.number for line in found if line.notes] == noted
    assert {note for line in found for note in line.notes} <= {(2, "merged")}


def test_merged_headings_over_two_rows_are_read_in_the_lower_row():
    rows = [texts("Name", "Period", ""), texts("", "Start", "End"), texts("Ann", "1", "2")]
    info = inspected(book(*rows, after=merged("A1:A2", "B1:C1")))
    assert (info.layout.heading_line, info.headings, info.sample) == (2, ["Name", "Start", "End"], [["Ann", "1", "2"]])


def test_a_number_in_merged_cells_counts_as_it_is_shown():
    rows = [texts("Name", "Code"), text("Ann") + number(42, 1), text("Bob")]
    content = workbooks.workbook({"A": sheet(*rows, after=merged("B2:B3"))}, formats=["General", "0000"])
    assert [line.cells for line in lines(content)] == [["Ann", "0042"], ["Bob", "0042"]]


def test_endless_merged_cells_are_refused_within_little_memory():
    cells = merged(*(f"A{row}:A{row + 1}" for row in range(1, 2 * file_limits.MAX_MERGES + 10, 2)))
    content = book(HEADINGS, texts("Ann"), after=cells)
    del cells
    tracemalloc.start()
    with pytest.raises(FileFault) as refused:
        inspected(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert refused.value.code == "bomb"
    assert peak < 60_000_000


@pytest.mark.parametrize(
    "attributes",
    ['hidden="1"', 'hidden="true"', 'ht="0" customHeight="1"', 'hidden="1" outlineLevel="1" collapsed="1"'],
)
def test_hidden_rows_are_counted_and_can_be_left_out(attributes):
    rows = [HEADINGS, texts("Ann"), f"<row {attributes}>{texts('Left Last Year')}</row>", texts("Leo")]
    content = book(*rows)
    info = inspected(content)
    assert info.hidden_rows == 1
    assert [(line.cells[0], line.is_hidden) for line in lines(content)] == [
        ("Ann", False), ("Left Last Year", True), ("Leo", False)]  # fmt: skip
    without = inspected(content, Layout("xlsx", heading_line=0, leaves_out_hidden=True))
    assert (without.hidden_rows, without.sample) == (1, [["Ann"], ["Leo"]])
    assert [line.number for line in lines(content, without.layout)] == [2, 4]


def test_rows_that_are_hidden_but_empty_or_above_the_headings_are_not_counted():
    hidden = f'<row hidden="1">{texts("Internal use")}</row>'
    assert inspected(book(hidden, HEADINGS, texts("Ann"), '<row hidden="1"><c s="1"/></row>')).hidden_rows == 0


@pytest.mark.parametrize(
    ("columns", "positions"),
    [
        ('<col min="2" max="2" hidden="1"/>', [1]),
        ('<col min="2" max="3" hidden="true"/>', [1, 2]),
        ('<col min="3" max="3" width="0" customWidth="1"/>', [2]),
        ('<col min="1" max="3" width="12"/><col min="4" max="16384" hidden="1"/>', []),
    ],
)
def test_hidden_columns_are_named(columns, positions):
    assert (
        inspected(book(HEADINGS, texts("Ann", "1", "A"), before=f"<cols>{columns}</cols>")).hidden_columns == positions
    )


def test_rows_and_columns_hidden_by_a_spreadsheet_program_are_reported():
    made, target = Workbook(), io.BytesIO()
    for row in (["Name", "Code"], ["Ann", "1"], ["Bob", "2"], ["Cid", "3"]):
        made.active.append(row)
    made.active.auto_filter.ref = "A1:B4"
    made.active.row_dimensions[3].hidden = made.active.row_dimensions[4].hidden = True
    made.active.column_dimensions["B"].hidden = True
    made.save(target)
    info = inspected(target.getvalue())
    assert (info.hidden_rows, info.hidden_columns) == (2, [1])


def test_a_name_that_lost_letters_in_a_workbook_is_doubted():
    assert inspected(book(HEADINGS, *[texts("Ann")] * 50, texts("Fran?ois"))).doubts == ["question_marks"]
    assert inspected(book(HEADINGS, texts("François"))).doubts == []
