"""Read the first sheet of an XLSX file as rows of text. Neither the sheet nor a long row is held in memory.

Cells are returned as a person sees them: numbers without a superfluous decimal point, leading zeros if the format shows
them, dates as 2026-12-01, formulas as text without evaluation.

The file is a ZIP archive, whose directory is checked before anything is unpacked.
"""

import io
import posixpath
import re
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, time, timedelta
from typing import Any, BinaryIO
from xml.parsers import expat

from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format
from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel

from portal.base.files import file_limits
from portal.base.files.file_limits import FileFault

_SHEETS = "xl/worksheets/"
_STRINGS = "xl/sharedstrings.xml"
_READ_BYTES = 64 * 1024


class XlsxArchive:
    """An archive whose parts are within the limits. Raises FileFault `xlsx` or `bomb`."""

    def __init__(self, source: BinaryIO) -> None:
        try:
            self._zip = zipfile.ZipFile(source)
            self._parts = {info.filename.lower().lstrip("/"): info for info in self._zip.infolist()}
        except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, NotImplementedError, OSError):
            raise FileFault("xlsx") from None
        if len(self._parts) > file_limits.MAX_PARTS:
            raise FileFault("bomb")
        for name, info in self._parts.items():
            if info.flag_bits & 1:
                raise FileFault("password")
            if name.endswith((".xml", ".rels")) and info.file_size > _max_bytes(name):
                raise FileFault("bomb")

    def __contains__(self, name: str) -> bool:
        return name.lower().lstrip("/") in self._parts

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open a part, which yields at most the bytes that the directory announced. Raises FileFault `xlsx`."""
        info = self._parts.get(name.lower().lstrip("/"))
        if info is None or info.file_size > _max_bytes(name.lower()):
            raise FileFault("xlsx" if info is None else "bomb")
        try:
            with self._zip.open(info) as part:
                yield part  # type: ignore[misc]  # IO[bytes] is what the stubs call it
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError):
            raise FileFault("xlsx") from None
        except Exception as error:
            # The decompressors have their own error classes (zlib.error, lzma.LZMAError).
            if type(error).__module__ in ("zlib", "_lzma", "_bz2", "lzma", "bz2"):
                raise FileFault("xlsx") from None
            raise


def _max_bytes(name: str) -> int:
    if name.startswith(_SHEETS) or "/worksheets/" in name:
        return file_limits.MAX_SHEET_BYTES
    return file_limits.MAX_STRINGS_BYTES if name.endswith("sharedstrings.xml") else file_limits.MAX_SMALL_PART_BYTES


def parse_part(
    part: BinaryIO,
    start: Callable[[str, dict[str, str]], Any] | None = None,
    end: Callable[[str], Any] | None = None,
    text: Callable[[str], Any] | None = None,
) -> Iterator[None]:
    """Parse a part with the handlers, names without namespaces. Yield after each piece, and refuse entities.

    Raises FileFault `xlsx` for what is not well-formed.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.EntityDeclHandler = _no_entities
    if start is not None:
        parser.StartElementHandler = lambda name, attributes: start(_local_name(name), attributes)
    if end is not None:
        parser.EndElementHandler = lambda name: end(_local_name(name))
    if text is not None:
        parser.CharacterDataHandler = text
    try:
        while piece := part.read(_READ_BYTES):
            parser.Parse(piece, False)
            yield
        parser.Parse(b"", True)
        yield
    except expat.ExpatError:
        raise FileFault("xlsx") from None


def read_elements(package: XlsxArchive, name: str) -> list[tuple[str, dict[str, str]]]:
    """Return the elements of a small part, in order, with their attributes."""
    found: list[tuple[str, dict[str, str]]] = []
    with package.open(name) as part:
        for _piece in parse_part(part, start=lambda tag, attributes: found.append((tag, attributes))):
            if len(found) > 200_000:
                raise FileFault("bomb")
    return found


def resolve_target(base: str, target: str) -> str:
    """Return the target of a relationship as a name in the archive."""
    if target.startswith("/"):
        return target.lstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), target))


def load_archive(chunks: Iterator[bytes]) -> BinaryIO:
    """Return the (small, limited) packed file in memory, because an archive must be read from its end."""
    return io.BytesIO(b"".join(chunks))


def _local_name(name: str) -> str:
    return name.rpartition(" ")[2]


def _no_entities(*_declared: Any) -> None:
    raise FileFault("bomb")


Line = tuple[int, list[str]]
# Returns the text of a cell's number, in the calendar of its workbook.
_Reader = Callable[[str, datetime], str]
_RELATIONSHIP = "http://schemas.openxmlformats.org/officeDocument/2006/relationships id"
_STRICT_RELATIONSHIP = "http://purl.oclc.org/ooxml/officeDocument/relationships id"
_ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f]|007[Ff]|[Ff]{3}[EeFf])_")
_ZEROS = re.compile(r"0{2,40}\Z")
# Spreadsheets store fifteen digits of a number: a longer one is no longer exact.
_EXACT = 10**15
# Marks a cell with lost digits; a character that no text may contain.
LOST_DIGITS = "\ufffe"


def read_rows(package: XlsxArchive) -> Iterator[Line]:
    """Yield (row number, cells) of each row that is not blank. Raises FileFault: xlsx, bomb, columns, cell."""
    path, epoch = _first_sheet(package)
    strings = _strings(package)
    reading = _RowParser(strings, _formats(package), epoch)
    with package.open(path) as part:
        for _piece in parse_part(part, reading.start, reading.end, reading.text):
            while reading.ready:
                yield reading.ready.popleft()
            if reading.is_done:
                return


class _RowParser:
    """The handlers for expat. One row is collected at a time; complete rows wait in `ready`."""

    def __init__(self, strings: list[str], formats: list[_Reader], epoch: datetime) -> None:
        self.ready: deque[Line] = deque()
        self.is_done = False
        self._strings, self._formats, self._epoch = strings, formats, epoch
        self._row = self._column = self._blank = 0
        self._cells: dict[int, str] = {}
        self._kind, self._style = "n", 0
        self._value, self._formula, self._inline = "", "", ""
        self._in: str = ""
        self._phonetic = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self._begin_row(attributes.get("r", ""))
        elif name == "c":
            self._begin_cell(attributes)
        elif name in ("v", "f", "t"):
            self._in = name
            if name == "f":
                self._formula = "="
        elif name == "rPh":
            self._phonetic = True

    def end(self, name: str) -> None:
        if name == "c":
            self._end_cell()
        elif name == "row":
            self._end_row()
        elif name in ("v", "f", "t"):
            self._in = ""
        elif name == "rPh":
            self._phonetic = False
        elif name == "sheetData":
            self.is_done = True

    def text(self, data: str) -> None:
        if self._in == "v":
            self._value += data
        elif self._in == "f":
            self._formula += data
        elif self._in == "t" and not self._phonetic:
            self._inline += data
        if len(self._value) + len(self._formula) + len(self._inline) > 2 * file_limits.MAX_CELL:
            raise FileFault("cell", line=self._row)

    def _begin_row(self, number: str) -> None:
        self._row = int(number) if number.isdecimal() and len(number) < 9 else self._row + 1
        self._column, self._cells = 0, {}

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self._column = _column(attributes.get("r", "")) or self._column + 1
        self._kind = attributes.get("t", "n")
        style = attributes.get("s", "0")
        self._style = int(style) if style.isdecimal() and len(style) < 9 else 0
        self._value = self._formula = self._inline = ""

    def _end_cell(self) -> None:
        if self._formula not in ("", "="):
            text = self._formula
        elif self._kind == "inlineStr":
            text = unescape(self._inline)
        else:
            text = self._read(self._value)
        if not text:
            return
        if self._column > file_limits.MAX_COLUMNS:
            raise FileFault("columns", line=self._row)
        self._cells[self._column] = text

    def _read(self, value: str) -> str:
        if not value:
            return ""
        if self._kind == "s":
            place = int(value) if value.isdecimal() and len(value) < 10 else -1
            return self._strings[place] if 0 <= place < len(self._strings) else ""
        if self._kind in ("str", "e"):
            return unescape(value)
        if self._kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if self._kind == "d":
            return value.replace("T", " ").removesuffix(" 00:00:00")
        read = self._formats[self._style] if self._style < len(self._formats) else _number
        return read(value, self._epoch)

    def _end_row(self) -> None:
        if not any(map(str.strip, self._cells.values())):
            self._blank += 1
            if self._blank > file_limits.MAX_BLANK_RUN:
                self.is_done = True
            return
        self._blank = 0
        width = max(self._cells)
        self.ready.append((self._row, [self._cells.get(place, "") for place in range(1, width + 1)]))


def unescape(text: str) -> str:
    """Return the text with the characters that XML forbids in place of XLSX's escapes, such as `_x000D_`."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _column(reference: str) -> int:
    """Return the number of a column: AB12 -> 28; 0 for anything else."""
    number = 0
    for letter in reference[:4]:
        if not ("A" <= letter <= "Z"):
            break
        number = number * 26 + ord(letter) - 64
    return number


def _first_sheet(package: XlsxArchive) -> tuple[str, datetime]:
    """Return the first visible sheet, and the calendar of the workbook."""
    book = "xl/workbook.xml"
    for tag, attributes in read_elements(package, "_rels/.rels") if "_rels/.rels" in package else []:
        if tag == "Relationship" and attributes.get("Type", "").endswith("/officeDocument"):
            book = resolve_target("", attributes.get("Target", ""))
    folder, _slash, name = book.rpartition("/")
    targets = {
        attributes.get("Id", ""): attributes
        for tag, attributes in read_elements(package, f"{folder}/_rels/{name}.rels")
        if tag == "Relationship"
    }
    epoch = CALENDAR_WINDOWS_1900
    for tag, attributes in read_elements(package, book):
        if tag == "workbookPr" and attributes.get("date1904", "0") in ("1", "true"):
            epoch = CALENDAR_MAC_1904
        if tag == "sheet" and attributes.get("state", "visible") == "visible":
            relationship = targets.get(attributes.get(_RELATIONSHIP) or attributes.get(_STRICT_RELATIONSHIP, ""), {})
            if relationship.get("Type", "").endswith("/worksheet"):
                return resolve_target(book, relationship.get("Target", "")), epoch
    raise FileFault("xlsx")


def _strings(package: XlsxArchive) -> list[str]:
    """Return the shared texts of cells, without the readings (furigana) of Japanese spreadsheets."""
    found: list[str] = []
    pieces: list[str] = []
    inside = {"t": False, "rPh": False}

    def start(name: str, _attributes: dict[str, str]) -> None:
        if name in inside:
            inside[name] = True

    def end(name: str) -> None:
        if name in inside:
            inside[name] = False
        elif name == "si":
            found.append(unescape("".join(pieces)))
            pieces.clear()
            if len(found) > file_limits.MAX_STRINGS:
                raise FileFault("bomb")

    def text(data: str) -> None:
        if inside["t"] and not inside["rPh"]:
            pieces.append(data)

    if "xl/sharedStrings.xml" in package:
        with package.open("xl/sharedStrings.xml") as part:
            for _piece in parse_part(part, start, end, text):
                pass
    return found


def _formats(package: XlsxArchive) -> list[_Reader]:
    """Return the function that reads a cell's number, by style."""
    if "xl/styles.xml" not in package:
        return []
    named: dict[str, str] = {str(number): code for number, code in BUILTIN_FORMATS.items()}
    styles: list[str] = []
    within = False
    for tag, attributes in read_elements(package, "xl/styles.xml"):
        if tag == "numFmt":
            named[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif tag in ("cellXfs", "cellStyleXfs", "cellStyles", "dxfs"):
            within = tag == "cellXfs"
        elif tag == "xf" and within:
            styles.append(attributes.get("numFmtId", "0"))
    return [_reader_of(named.get(each, "General")) for each in styles]


def _reader_of(code: str) -> _Reader:
    plain = code.replace('"', "").replace("\\", "")
    if _ZEROS.match(plain):
        return lambda value, epoch: _padded(_number(value, epoch), len(plain))
    return _date if is_date_format(code) else _number


def _number(value: str, _epoch: datetime) -> str:
    """Return a number as its shortest exact text: 42, 0.5; LOST_DIGITS if it has more than fifteen digits."""
    try:
        number = int(value) if "." not in value and "E" not in value.upper() else float(value)
    except ValueError:
        return value
    if isinstance(number, float):
        if number != number or number in (float("inf"), float("-inf")):
            return value
        if not number.is_integer():
            return repr(number)
        number = int(number)
    return str(number) if abs(number) < _EXACT else LOST_DIGITS


def _padded(text: str, width: int) -> str:
    return text.zfill(width) if text.isdecimal() else text


def _date(value: str, epoch: datetime) -> str:
    try:
        moment: Any = from_excel(float(value), epoch)
    except (ValueError, OverflowError, TypeError):
        return _number(value, epoch)
    if isinstance(moment, timedelta | time):
        return str(moment)
    if isinstance(moment, datetime) and (moment.hour or moment.minute or moment.second):
        return moment.strftime("%Y-%m-%d %H:%M:%S")
    return moment.strftime("%Y-%m-%d") if moment.year >= 1000 else _number(value, epoch)
