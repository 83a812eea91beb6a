"""Cells of workbooks are read as the sheet shows them, or have a fault or a note. No value is made up."""

import pytest

from portal.base.files import reading
from portal.base.files.reading import Line, cell_fault, shown_text
from tests.support import workbooks
from tests.support.workbooks import number, sheet, text, texts


def lines(content: bytes) -> list[Line]:
    info = reading.inspect_file(lambda: [content], lambda heading: heading == "Name")
    return list(reading.open_rows(info.layout, lambda: [content])[1])


def cell(xml: str, *, formats: tuple[str | int, ...] = (), calculation: str = "") -> tuple[str, str]:
    """Return what is read from a cell, and the code of its note."""
    content = workbooks.workbook(
        {"Members": sheet(texts("Name", "Code"), text("Ann") + xml)}, formats=formats, calculation=calculation
    )
    (line,) = lines(content)
    return line.cells[1] if len(line.cells) > 1 else "", dict(line.notes).get(1, "")


@pytest.mark.parametrize(
    ("xml", "result"),
    [
        ('<c t="str"><f>D2&amp;" "&amp;E2</f><v>Aya Sample</v></c>', "Aya Sample"),
        ("<c><f>A1+1</f><v>42</v></c>", "42"),
        ('<c><f t="shared" si="0"/><v>43</v></c>', "43"),
        ('<c s="1"><f>A1+1</f><v>42</v></c>', "000042"),
        ('<c s="2"><f>TODAY()</f><v>46357</v></c>', "2026-12-01"),
        ('<c t="b"><f>A1=1</f><v>1</v></c>', "TRUE"),
        ('<c t="str"><f>IF(A1="","",A1)</f><v></v></c>', ""),
        ('<c t="str"><f>A1</f></c>', ""),
    ],
)
def test_a_formula_gives_its_stored_result(xml, result):
    assert cell(xml, formats=("General", "000000", "yyyy-mm-dd")) == (result, "")


@pytest.mark.parametrize(
    ("xml", "calculation"),
    [
        ('<c><f>D2&amp;" "&amp;E2</f></c>', ""),
        ("<c><f>D2</f><v></v></c>", ""),
        ("<c><f>D2</f><v/></c>", '<calcPr fullCalcOnLoad="1"/>'),
        # Some libraries store 0 for each formula, and ask the spreadsheet program to calculate it.
        ("<c><f>D2</f><v>0</v></c>", '<calcPr fullCalcOnLoad="1"/>'),
        ('<c t="e"><f>D2</f></c>', ""),
    ],
)
def test_a_formula_that_was_never_calculated_has_no_value(xml, calculation):
    found, _note = cell(xml, calculation=calculation)
    assert cell_fault(found) == "no_result"
    assert "D2" not in shown_text(found)


def test_a_calculated_zero_is_a_value():
    assert cell("<c><f>D2</f><v>0</v></c>") == ("0", "")
    assert cell("<c><v>0</v></c>", calculation='<calcPr fullCalcOnLoad="1"/>') == ("0", "")


@pytest.mark.parametrize("error", ["#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!"])
@pytest.mark.parametrize(
    "xml", ['<c t="e"><v>{}</v></c>', '<c t="e"><f>D2</f><v>{}</v></c>', '<c t="str"><v>{}</v></c>']
)
def test_an_error_is_no_value_and_can_be_quoted(xml, error):
    found, _note = cell(xml.format(error))
    assert cell_fault(found) == "error_value"
    assert shown_text(found) == error


def test_an_error_of_a_newer_spreadsheet_is_no_value():
    found, _note = cell('<c t="e"><v>#GETTING_DATA</v></c>')
    assert (cell_fault(found), shown_text(found)) == ("error_value", "#GETTING_DATA")


@pytest.mark.parametrize(
    "shown", ["#WERT!", "#BEZUG!", "#NV", "#¿NOMBRE?", "#VALEUR!", "#SPILL!", "Err:502", "########"]
)
def test_an_error_saved_as_text_is_no_value_in_any_language(shown):
    assert cell_fault(shown) == "error_value"


@pytest.mark.parametrize("value", ["", "#消去", "#clear", "#12", "# 1", "Erro", "E1", "No. #5!", "A", "#"])
def test_other_texts_are_values(value):
    assert cell_fault(value) == ""
    assert shown_text(value) == value


@pytest.mark.parametrize(
    ("code", "stored", "shown"),
    [
        ("000000", 42, "000042"),
        ("000000", 1234567, "1234567"),
        ("000000;-000000", 42, "000042"),
        ("000000;-000000", -42, "-000042"),
        ('0000;"N"0000;"none"', -42, "N0042"),
        ('"E"000000', 42, "E000042"),
        (r"\E00000", 42, "E00042"),
        ('"No."0', 42, "No.42"),
        ('"E"General', 42, "E42"),
        ('"E"@', 42, "E42"),
        ("000-000", 42, "000-042"),
        ("000-000", 1234567, "1234-567"),
        ("[<=999999]000000;General", 42, "000042"),
        ("[<=999999]000000;General", 1234567, "1234567"),
        ("[<=999]000;[<=9999]000-00;000-0000", 1234567, "123-4567"),
        ("[<=999]000;[<=9999]000-00;000-0000", 7, "007"),
        ("00000_ ", 42, "00042"),
        ("00 00 00", 1234, "00 12 34"),
        ("[Red]0000", 42, "0042"),
        ("000.00", 4.5, "004.50"),
        ('0000"A"', 42, "0042A"),
        ("00000;;", 42, "00042"),
        ("###-####", 1234567, "123-4567"),
        ('000000;-000000;"none";@', 42, "000042"),
        ("000000", "1E+2", "000100"),
        ("000000000000000", 42, "000000000000042"),
    ],
)
def test_a_number_is_read_with_the_zeros_and_letters_that_its_format_shows(code, stored, shown):
    assert cell(number(stored, 1), formats=("General", code)) == (shown, "")


@pytest.mark.parametrize(
    ("code", "stored", "plain"),
    [
        ('#,##0 "pcs"', 1234, "1234"),
        ("0.0%", 0.5, "0.5"),
        ('0"号室"', 101, "101"),
        ("[$€-407] #,##0.00", 12, "12"),
        ("¥#,##0", 1200, "1200"),
        ("0,", 1200, "1200"),
        ("# ?/?", 0.5, "0.5"),
        ('[=1]"Yes";"No"', 1, "1"),
        (";;;", 42, "42"),
        ("[DBNum1]General", 42, "42"),
        ("000,000", 42, "42"),
        ("000000", 4.5, "4.5"),
    ],
)
def test_a_format_that_shows_something_else_gives_the_number_and_a_note(code, stored, plain):
    assert cell(number(stored, 1), formats=("General", code)) == (plain, "format_differs")


@pytest.mark.parametrize(
    ("code", "stored", "plain"),
    [
        ("General", 123456789012, "123456789012"),
        ("General", "1.23456789012E+11", "123456789012"),
        ("0.00E+00", 123456789012, "123456789012"),
        ("0", "8.96529E+14", "896529000000000"),
        ("#,##0", 1234, "1234"),
        ("#,##0_);(#,##0)", -1234, "-1234"),
        ("0.00", 42, "42"),
        ("0;[Red]-0", -42, "-42"),
        ("@", 42, "42"),
        ("0_ ", 42, "42"),
        (37, 42, "42"),
        (1, 42, "42"),
    ],
)
def test_a_number_without_anything_around_it_is_read_whole(code, stored, plain):
    assert cell(number(stored, 1), formats=("General", code)) == (plain, "")


@pytest.mark.parametrize("stored", ["1234567890123456", "1.2345678901234E+19", "8.96529E+15"])
@pytest.mark.parametrize("code", ["General", "0", "0000000000000000", '"E"0'])
def test_a_number_of_more_digits_than_a_spreadsheet_stores_has_no_value(stored, code):
    found, _note = cell(number(stored, 1), formats=("General", code))
    assert (cell_fault(found), shown_text(found)) == ("digits_lost", stored)


@pytest.mark.parametrize(
    ("code", "stored", "shown"),
    [
        ("yyyy-mm-dd", 46357, "2026-12-01"),
        ('[$-411]ggge"年"m"月"d"日"', 46357, "2026-12-01"),
        ("[$-411]ge", 46357, "2026-12-01"),
        ("[$-F800]dddd, mmmm dd, yyyy", 46357, "2026-12-01"),
        (14, 46357, "2026-12-01"),
        (31, 46357, "2026-12-01"),
        (57, 46357, "2026-12-01"),
        ("yyyy-mm-dd", 46357.375, "2026-12-01 09:00:00"),
        ("yyyy/m/d h:mm", 46357.999988425927, "2026-12-01 23:59:59"),
        ("h:mm", 0.375, "09:00:00"),
        (20, 0.5625, "13:30:00"),
        (32, 0.375, "09:00:00"),
        ("h:mm:ss", 0.99998842592, "23:59:59"),
        ("[h]:mm", 1, "24:00:00"),
        ("[h]:mm:ss", 1.5, "36:00:00"),
        (46, 0.375, "9:00:00"),
        ("[mm]:ss", 0.0625, "1:30:00"),
    ],
)
def test_dates_times_and_durations_are_read_in_one_form(code, stored, shown):
    assert cell(number(stored, 1), formats=("General", code)) == (shown, "")


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [('"E"@', "a1", "Ea1"), ('000000;-000000;0;"ID-"@', "7b", "ID-7b"), ('@" (guest)"', "Ann", "Ann (guest)"),
     ("@", "007", "007"), ("000000", "42", "42"), ("General", "42", "42")],
)  # fmt: skip
def test_a_text_is_read_with_the_letters_that_its_format_shows(code, value, shown):
    assert cell(text(value, 1), formats=("General", code)) == (shown, "")
