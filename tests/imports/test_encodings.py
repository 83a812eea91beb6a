"""Text files in the encodings of Japan and the West: names arrive whole, and what looks wrong is doubted."""

import pytest

from portal.base.files import file_limits, reading
from portal.base.files.file_limits import FileFault

JAPANESE = "氏名,会社\n田中 愛子,㈱みらい\n髙橋 ①,ｱｵｲ\n"
HEADINGS = ("氏名", "Name")


def inspected(content: bytes, encoding: str = "") -> reading.FileInfo:
    wanted = reading.Layout("csv", encoding=encoding, heading_line=0)
    return reading.inspect_file(lambda: [content[at : at + 5] for at in range(0, len(content), 5)],
                                HEADINGS.__contains__, wanted)  # fmt: skip


def rows(content: bytes, encoding: str = "") -> list[list[str]]:
    headings, lines = reading.open_rows(inspected(content, encoding).layout, lambda: [content])
    return [headings, *(line.cells for line in lines)]


def as_iso_2022_jp(text: str) -> bytes:
    """Return the text as mail programs of Windows write it, with circled numbers and half-width kana."""
    written = b""
    for letter in text:
        lead, *trail = letter.encode("cp932")
        if trail:
            row = (lead - (0x81 if lead < 0xA0 else 0xC1)) * 2 + 0x21 + (trail[0] >= 0x9F)
            cell = trail[0] - (0x7E if trail[0] >= 0x9F else 0x1F if trail[0] < 0x80 else 0x20)
            written += b"\x1b$B" + bytes([row, cell]) + b"\x1b(B"
        else:
            written += b"\x1b(I" + bytes([lead & 0x7F]) + b"\x1b(B" if lead > 0x9F else bytes([lead])
    return written


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (JAPANESE.encode(), "utf-8-sig"),
        (JAPANESE.encode("utf-8-sig"), "utf-8-sig"),
        (JAPANESE.encode("utf-16"), "utf-16"),
        (b"\xfe\xff" + JAPANESE.encode("utf-16-be"), "utf-16"),
        (JAPANESE.encode("utf-16-le"), "utf-16-le"),
        (JAPANESE.encode("utf-16-be"), "utf-16-be"),
        (JAPANESE.encode("cp932"), "cp932"),
        (as_iso_2022_jp(JAPANESE), "iso2022_jp"),
    ],
)
def test_japanese_names_arrive_whole_in_every_encoding(content, found):
    info = inspected(content)
    assert (info.layout.encoding, info.encodings[0], info.doubts) == (found, found, [])
    assert rows(content) == [line.split(",") for line in JAPANESE.splitlines()]


@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp932"])
def test_lines_end_as_in_windows_old_macs_and_elsewhere(ends, encoding):
    content = JAPANESE.replace("\n", ends).encode(encoding)
    assert rows(content) == [line.split(",") for line in JAPANESE.splitlines()]


@pytest.mark.parametrize(
    ("text", "is_doubted"),
    [
        ("Jürgen Müller\nJosé Álvarez\nSøren Kjær", False),
        ("François Lefèvre\nZoë", False),
        ("Máire Ní Dhuibh\nO’Neill “Ó Sé” – Co", False),
        ("Price: 20 €", False),
        # Shift-JIS fits as well.
        ("Hélène Gérard\nRenée Sample\nJörg Böhm", True),
        ("MÜLLER\nJÜRGEN ÖZ", True),
        ("Peña\nMuñoz\nJoão", True),
        ("Smith\n" * 3000 + "Gérard", True),
    ],
)
def test_western_names_from_windows_are_no_kanji(text, is_doubted):
    content = f"Name\n{text}\n".encode("cp1252")
    info = inspected(content)
    assert info.layout.encoding == "cp1252"
    assert [row[0] for row in rows(content)] == ["Name", *text.splitlines()]
    assert info.doubts == (["two_encodings"] if is_doubted else [])
    assert info.encodings == (["cp1252", "cp932"] if is_doubted else ["cp1252"])


@pytest.mark.parametrize(
    "text", ["Tanaka田中,IT部", "ABCｶﾌﾞ,Bﾄｳ", "山,小", "web会議,iPhone用", "ﾀﾅｶ,ｱｲｺ", "山本,DVDﾌﾟﾚｰﾔｰ", "伊藤 A棟,X線"]
)
def test_japanese_with_latin_letters_is_not_taken_for_western_names(text):
    content = f"氏名,所属\n{text}\n".encode("cp932")
    info = inspected(content)
    assert (info.layout.encoding, info.doubts) == ("cp932", [])
    assert rows(content)[1] == text.split(",")


@pytest.mark.parametrize(
    ("name", "doubts"),
    [
        ("J\ue49ag", ["private_use"]),
        ("田\ue001", ["private_use"]),
        ("\U000f0001", ["private_use"]),
        ("Renﾃｩ", ["half_kana"]),
        ("ﾁlvarez", ["half_kana"]),
        ("H駘鈩e", ["half_kana"]),
        ("MﾜLLER", ["half_kana"]),
        ("Fran?ois", ["question_marks"]),
        ("???", ["question_marks"]),
        ("?? ??", ["question_marks"]),
        ("?ukasz", ["question_marks"]),
        ("?橋 はなこ", ["question_marks"]),
        ("B\ufffdhm", ["question_marks"]),
        ("JosÃ©", ["garbled"]),
        ("縺ゅ＞", ["garbled"]),
        ("O’Neill", []),
        ("Who?", []),
        ("本当?", []),
        ("Really? Yes", []),
        ("https://example.com/page?id=3", []),
        ("João Ângelo", []),
        ("ﾀﾅｶ ABCｶﾌﾞ", []),
        ("iPhone用", []),
    ],
)
def test_lost_letters_are_doubted(name, doubts):
    assert inspected(f"Name,Code\n{name},1\n".encode("utf-8-sig")).doubts == doubts


def test_a_lost_letter_far_below_the_first_rows_is_doubted():
    assert inspected(b"Name\n" + b"Ann\n" * 9_000 + b"Fran?ois\n").doubts == ["question_marks"]


@pytest.mark.parametrize(
    ("encoding", "name", "doubts"),
    [("cp932", "H駘鈩e", ["half_kana"]), ("cp1252", "Hélène", [])],
)
def test_a_person_chooses_another_encoding(encoding, name, doubts):
    content = "Name,Code\nHélène,1\n".encode("cp1252")
    info = inspected(content, encoding)
    assert (info.layout.encoding, info.encodings[0], info.doubts) == (encoding, encoding, doubts)
    assert rows(content, encoding)[1] == [name, "1"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso2022_jp"])
def test_an_encoding_that_does_not_fit_is_refused_with_the_line(encoding):
    with pytest.raises(FileFault) as refused:
        inspected("Name\nAnn\nHélène,1\n".encode("cp1252"), encoding)
    assert refused.value.code == "other_encoding"
    if encoding != "utf-16":
        assert file_limits.fault_text("other_encoding", refused.value.values).startswith("Line 3 does not fit")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("Name\nAnn\nИван Петров\n".encode("cp1251"), 3),
        ("氏名\n田中愛子 さくら\n".encode("euc_jp"), 2),
        ("Name\rAnn\rΕλένη\r".encode("cp1253"), 3),
        (b"Name\nAnn\n" + "Ελένη\n".encode() + b"\xff\xfe\n", 4),
    ],
)
def test_a_file_in_no_known_encoding_is_refused_with_the_line(content, line):
    with pytest.raises(FileFault) as refused:
        inspected(content)
    assert (refused.value.code, refused.value.values) == ("encoding", {"line": line})


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("sep=;\nName;Code\nA;1\n", ";"),
        ("sep=|\r\nName|Code\r\nA|1\r\n", "|"),
        ("SEP=\t\nName\tCode\nA\t1\n", "\t"),
        ("Guests, April 2027\n\nName;Code\nA, B;1\nC;2\n", ";"),
        ("List\nName,Code\nA,1\n", ","),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_the_delimiter_is_found_below_a_title_or_named_by_excel(text, delimiter, encoding):
    info = inspected(text.encode(encoding))
    assert (info.layout.delimiter, info.headings) == (delimiter, ["Name", "Code"])
