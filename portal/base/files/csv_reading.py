"""Read CSV as Excel, Japanese systems and databases write it: encoding and delimiter are detected, values unchanged."""

import collections
import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from portal.base.files import encodings
from portal.base.files.file_limits import MAX_CELL, FileFault
from portal.base.files.lines import Line

DELIMITERS = (",", ";", "\t")
# Excel's first line "sep=;" may name any delimiter.
_SEP_LINE = re.compile(r"\s*\"?sep=([^\w\s\"]|\t)\"?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """The encoding and the delimiter of a CSV file."""

    encoding: str
    delimiter: str


def detect_delimiter(sample: str) -> str:
    """Return the delimiter by which most of the first lines have the same number of columns; a comma for one column.

    Raises FileFault `empty`.
    """
    if not sample.strip():
        raise FileFault("empty")
    if named := _SEP_LINE.match(sample.lstrip("\ufeff").splitlines()[0]):
        return named[1]
    return max(DELIMITERS, key=lambda each: _column_agreement(sample, each))


def read_lines(chunks: Iterable[bytes], dialect: Dialect) -> Iterator[Line]:
    """Yield each line that is not blank. A record over several lines has the number of the first.

    Raises FileFault `quotes`, `cell` or `encoding` with the line.
    """
    csv.field_size_limit(MAX_CELL * 4)
    text = encodings.open_text(chunks, dialect.encoding)
    reader = csv.reader(_blank_sep_line(text), delimiter=dialect.delimiter, strict=True)
    number = 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield Line(number, cells)
            number = reader.line_num + 1
    except csv.Error as error:
        code = "cell" if "limit" in str(error) else "quotes"
        raise FileFault(code, line=number) from None
    except UnicodeDecodeError:
        raise FileFault("encoding", line=number) from None


def _column_agreement(sample: str, delimiter: str) -> tuple[float, int]:
    """Return the share of lines with the most frequent number of columns, and this number. One column is no table."""
    widths = []
    try:
        for cells in csv.reader(io.StringIO(sample.lstrip("\ufeff"), newline=""), delimiter=delimiter, strict=True):
            if any(map(str.strip, cells)):
                widths.append(len(cells))
            if len(widths) == 20:
                break
    except csv.Error:
        pass  # the sample may end within quotes; the rows before count
    tables = collections.Counter(width for width in widths if width > 1)
    return max(((count / len(widths), width) for width, count in tables.items()), default=(0.0, 0))


def _blank_sep_line(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines with a blank one for Excel's first line "sep=;", so that line numbers stay correct."""
    for number, line in enumerate(lines):
        yield "\n" if number == 0 and _SEP_LINE.fullmatch(line.lstrip("\ufeff")) else line
