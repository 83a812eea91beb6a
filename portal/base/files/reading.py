"""Read CSV and XLSX in the same way: headings first, then numbered rows of text."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from portal.base.files import csv_reading, file_limits, xlsx_archive, xlsx_reading
from portal.base.files.file_limits import FileFault
from portal.base.files.writing import is_portal_file, unescape_formula

Line = tuple[int, list[str]]
Kind = Literal["csv", "xlsx"]
SAMPLE_ROWS = 5


@dataclass(frozen=True)
class FileInfo:
    """The result of an inspection: the file's format, its headings and its first rows."""

    kind: Kind
    encoding: str
    delimiter: str
    headings: list[str]
    sample: list[list[str]]


def inspect_file(chunks: Callable[[], Iterable[bytes]]) -> FileInfo:
    """Detect a file's format by its content, regardless of its name. Raises FileFault."""
    first = next(iter(chunks()), b"")
    if not first:
        raise FileFault("empty")
    kind: Kind = "xlsx" if first[:4] == b"PK\x03\x04" else "csv"
    if first[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        raise FileFault("old_excel")
    dialect = csv_reading.detect_dialect(chunks()) if kind == "csv" else csv_reading.Dialect("", "")
    headings, lines = open_rows(kind, dialect.encoding, dialect.delimiter, chunks)
    sample = [cells for _line, cells in itertools.islice(lines, SAMPLE_ROWS)]
    if not sample:
        raise FileFault("no_rows")
    return FileInfo(kind, dialect.encoding, dialect.delimiter, headings, sample)


def open_rows(
    kind: str, encoding: str, delimiter: str, chunks: Callable[[], Iterable[bytes]]
) -> tuple[list[str], Iterator[Line]]:
    """Return the headings, and a stream of the rows below them. Raises FileFault, also while the rows are read."""
    lines = _lines(kind, encoding, delimiter, chunks)
    _number, headings = next(lines, (0, []))
    if not headings:
        raise FileFault("empty")
    if len(headings) > file_limits.MAX_COLUMNS:
        raise FileFault("columns", line=1)
    ours = is_portal_file(headings)
    rows = ((line, [unescape_formula(cell) for cell in cells]) for line, cells in lines) if ours else lines
    return headings, _check_limits(rows)


def _lines(kind: str, encoding: str, delimiter: str, chunks: Callable[[], Iterable[bytes]]) -> Iterator[Line]:
    if kind == "csv":
        return csv_reading.read_rows(chunks(), csv_reading.Dialect(encoding, delimiter))
    return xlsx_reading.read_rows(xlsx_archive.XlsxArchive(xlsx_archive.load_archive(iter(chunks()))))


def _check_limits(lines: Iterator[Line]) -> Iterator[Line]:
    for count, (line, cells) in enumerate(lines, start=1):
        if count > file_limits.MAX_ROWS:
            raise FileFault("rows")
        if len(cells) > file_limits.MAX_COLUMNS:
            raise FileFault("columns", line=line)
        yield line, cells
