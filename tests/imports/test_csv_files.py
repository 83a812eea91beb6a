"""CSV files from Excel, Japanese systems and databases are read, and every value is preserved."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from portal.base.files import file_limits, reading
from portal.base.files.file_limits import FileFault
from portal.base.files.writing import REASON_HEADINGS, escape_formula, render_csv, unescape_formula

HEADINGS = ["氏名", "社員番号", "カード番号"]
TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=40)
IN_CP932 = st.text(
    st.sampled_from("0123456789ABCabc=+-@'\",;\t\r\n 田中愛子ｱｲｳ髙﨑①Ⅷ～－ー「」"), min_size=0, max_size=20
)  # fmt: skip


def read(content: bytes, pieces: int = 7) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Read the content as an upload is read, cut into pieces at inconvenient places."""
    chunks = [content[at : at + pieces] for at in range(0, len(content), pieces)] if pieces else [content]
    found = reading.inspect_file(lambda: chunks, HEADINGS.__contains__)
    headings, rows = reading.open_rows(found.layout, lambda: chunks)
    return headings, [(line.number, line.cells) for line in rows]


def written(rows: list[list[str]], delimiter: str = ",") -> str:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    return buffer.getvalue()


def not_blank(rows: list[list[str]]) -> list[list[str]]:
    return [row for row in rows if any(cell.strip() for cell in row)]


@given(
    rows=st.lists(st.tuples(TEXT, TEXT, TEXT).map(list), min_size=1, max_size=5),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    delimiter=st.sampled_from([",", ";", "\t"]),
)
def test_every_value_comes_through_unchanged_in_unicode(rows, encoding, delimiter):
    rows = [["anchor", "00042", "0123456789ABCDEF"], *rows]
    headings, found = read(written([HEADINGS, *rows], delimiter).encode(encoding))
    assert headings == HEADINGS
    assert [cells for _line, cells in found] == not_blank(rows)


@given(rows=st.lists(st.tuples(IN_CP932, IN_CP932, IN_CP932).map(list), min_size=1, max_size=5))
def test_every_value_comes_through_unchanged_in_shift_jis(rows):
    rows = [["田中", "00042", "x"], *rows]
    _headings, found = read(written([HEADINGS, *rows]).encode("cp932"))
    assert [cells for _line, cells in found] == not_blank(rows)


@given(rows=st.lists(st.tuples(TEXT, TEXT).map(list), min_size=1, max_size=5))
def test_our_own_download_comes_back_with_every_value_unchanged(rows):
    lines = [["氏名", "社員番号", REASON_HEADINGS["ja"]], ["anchor", "1", ""], *([*row, "because"] for row in rows)]
    content = b"".join(render_csv(lines))
    headings, found = read(content)
    assert headings == lines[0]
    assert [cells for _line, cells in found] == lines[1:]


@given(TEXT)
@example("=1+1")
def test_no_cell_of_a_download_begins_like_a_formula(text):
    assert not escape_formula(text).startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))
    assert unescape_formula(escape_formula(text)) == text


def test_in_other_peoples_files_an_apostrophe_is_an_apostrophe():
    _headings, found = read("氏名,社員番号\n'=1+1,'-5\n".encode())
    assert found[0][1] == ["'=1+1", "'-5"]


def test_formulas_in_a_csv_stay_text():
    _headings, found = read(b'name,code\n=HYPERLINK("http://x"),@SUM(1)\n'.replace(b'"', b""))
    assert found[0][1] == ["=HYPERLINK(http://x)", "@SUM(1)"]


def test_lines_are_counted_as_an_editor_counts_them():
    content = b'name,code\n\n"two\nlines",1\n,\nlast,2\n'
    _headings, found = read(content)
    assert [line for line, _cells in found] == [3, 6]


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        (b"name,code\na,1\n", ","),
        (b'name;code\n"a,b";1\nc;2\n', ";"),
        (b"name\tcode\na, b\t1\n", "\t"),
        (b"sep=;\nname;code\na;1\n", ";"),
        (b"name\na\n", ","),
    ],
)
def test_the_delimiter_is_found(content, delimiter):
    assert reading.inspect_file(lambda: [content], HEADINGS.__contains__).layout.delimiter == delimiter
    assert read(content)[0][0] == "name"


@pytest.mark.parametrize(
    ("content", "word", "line"),
    [
        (b"", "empty", None),
        (b"\n \n", "empty", None),
        (b"name,code\n", "no_rows", None),
        (b"name,code\na,1\nb\x00,2\n", "nul", 3),
        (b"name,code\n\xff\xff\xff,1\n", "encoding", 2),
        (b'name,code\n"a"b,1\n', "quotes", 2),
        (b'name,code\n"a,1\nb,2\n', "quotes", 2),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 100, "old_excel", None),
        (b"a," * 100 + b"a\n1\n", "columns", 1),
    ],
)
def test_a_broken_file_is_refused_with_the_reason_and_the_line(content, word, line):
    with pytest.raises(FileFault) as refused:
        read(content, pieces=0)
    assert refused.value.code == word
    if line is not None:
        assert refused.value.values["line"] == line


def test_an_endless_quote_is_refused_and_not_collected():
    with pytest.raises(FileFault) as refused:
        read(b'name,code\n"' + b"x\n" * 100_000, pieces=4096)
    assert refused.value.code == "cell"


@pytest.mark.parametrize(("over", "fits"), [(-1, True), (0, True), (1, False)])
def test_the_number_of_rows_at_its_bound(over, fits):
    count = file_limits.MAX_ROWS + over
    content = b"name\n" + b"x\n" * count
    if fits:
        assert len(read(content, pieces=0)[1]) == count
        return
    with pytest.raises(FileFault) as refused:
        read(content, pieces=0)
    assert refused.value.code == "rows"


@pytest.mark.parametrize(("count", "fits"), [(file_limits.MAX_COLUMNS, True), (file_limits.MAX_COLUMNS + 1, False)])
def test_the_number_of_columns_at_its_bound(count, fits):
    content = (",".join(["h"] * count) + "\n" + ",".join(["v"] * count) + "\n").encode()
    if fits:
        assert len(read(content)[0]) == count
        return
    with pytest.raises(FileFault) as refused:
        read(content)
    assert refused.value.code == "columns"
