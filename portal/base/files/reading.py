"""Read CSV and XLSX in the same way: headings first, then numbered rows of text.

CSV comes from Excel, Japanese systems and databases: encoding and delimiter are detected, values stay unchanged.
"""

import codecs
import csv
import hashlib
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from django.core.files.uploadedfile import UploadedFile

from portal.base.files import file_limits, xlsx_reading
from portal.base.files.file_limits import MAX_CELL, FileFault
from portal.base.files.writing import is_portal_file, unescape_formula
from tenants import vault
from tenants.scope import current_tenant_id

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
    dialect = detect_dialect(chunks()) if kind == "csv" else Dialect("", "")
    headings, lines = open_rows(kind, dialect.encoding, dialect.delimiter, chunks)
    sample = [cells for _line, cells in itertools.islice(lines, SAMPLE_ROWS)]
    if not sample:
        raise FileFault("no_rows")
    return FileInfo(kind, dialect.encoding, dialect.delimiter, headings, sample)


def fingerprint_upload(upload: "UploadedFile[bytes]", purpose: str) -> bytes:
    """Return a keyed digest of an uploaded file, by which the same file is recognized."""
    digest = hashlib.sha256()
    for chunk in upload.chunks(file_limits.CHUNK_BYTES):
        digest.update(chunk)
    return vault.fingerprint(current_tenant_id(), purpose, digest.hexdigest())


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
        return read_rows(chunks(), Dialect(encoding, delimiter))
    return xlsx_reading.read_rows(xlsx_reading.XlsxArchive(xlsx_reading.load_archive(iter(chunks()))))


def _check_limits(lines: Iterator[Line]) -> Iterator[Line]:
    for count, (line, cells) in enumerate(lines, start=1):
        if count > file_limits.MAX_ROWS:
            raise FileFault("rows")
        if len(cells) > file_limits.MAX_COLUMNS:
            raise FileFault("columns", line=line)
        yield line, cells


ENCODINGS = ("utf-8-sig", "cp932")
DELIMITERS = (",", ";", "\t")
# The decoder turns bytes that Shift-JIS does not use into these characters.
_NOT_JAPANESE = re.compile("[\x80\xa0\uf8f0-\uf8f3]")
_SAMPLE = 64 * 1024


@dataclass(frozen=True)
class Dialect:
    """The encoding and the delimiter of a CSV file."""

    encoding: str
    delimiter: str


def detect_dialect(chunks: Iterable[bytes]) -> Dialect:
    """Return the dialect of a file. Raises FileFault: `nul`, `encoding`, `empty`."""
    encoding, sample = _detect_encoding(chunks)
    return Dialect(encoding, _detect_delimiter(sample))


def read_rows(chunks: Iterable[bytes], dialect: Dialect) -> Iterator[Line]:
    """Yield (line number, cells) of each line that is not blank. A record over several lines has its first number.

    Raises FileFault `quotes` or `cell` with the line, if the file violates the rules of CSV.
    """
    csv.field_size_limit(MAX_CELL * 4)
    text = io.TextIOWrapper(io.BufferedReader(_ChunkReader(chunks)), encoding=dialect.encoding, newline="")
    reader = csv.reader(_blank_sep_line(text), delimiter=dialect.delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        word = "cell" if "limit" in str(error) else "quotes"
        raise FileFault(word, line=line) from None
    except UnicodeDecodeError:
        raise FileFault("encoding", line=line) from None


def _detect_encoding(chunks: Iterable[bytes]) -> tuple[str, str]:
    """Return encoding and sample: UTF-16 by its mark, otherwise UTF-8 or else Shift-JIS if every byte fits."""
    tries = {name: _EncodingTrial(name) for name in ENCODINGS}
    lines, pieces = 1, iter(chunks)
    for number, chunk in enumerate(pieces):
        if number == 0 and chunk[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16", _decode_sample(itertools.chain([chunk], pieces), "utf-16")
        if b"\x00" in chunk:
            raise FileFault("nul", line=lines + chunk[: chunk.index(b"\x00")].count(b"\n"))
        _feed_trials(tries, chunk, lines)
        lines += chunk.count(b"\n")
    _feed_trials(tries, b"", lines, final=True)
    found = next(iter(tries))
    return found, tries[found].sample


class _EncodingTrial:
    """A trial of one encoding. It ends at the first byte that does not fit."""

    def __init__(self, name: str) -> None:
        self._decoder = codecs.getincrementaldecoder(name)()
        self._japanese = name == "cp932"
        self.sample = ""

    def feed(self, chunk: bytes, *, final: bool) -> int | None:
        """Return None while every byte fits, otherwise the number of lines in the chunk before the fault."""
        try:
            text = self._decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            return chunk[: error.start].count(b"\n")
        if self._japanese and (fault := _NOT_JAPANESE.search(text)):
            return text[: fault.start()].count("\n")
        if len(self.sample) < _SAMPLE:
            self.sample += text[:_SAMPLE]
        return None


def _feed_trials(tries: dict[str, _EncodingTrial], chunk: bytes, lines: int, *, final: bool = False) -> None:
    """Feed the chunk to all trials and drop encodings that do not fit. Raises FileFault if none is left."""
    for name, each in list(tries.items()):
        before = each.feed(chunk, final=final)
        if before is not None:
            del tries[name]
            if not tries:
                raise FileFault("encoding", line=lines + before)


def _decode_sample(chunks: Iterable[bytes], encoding: str) -> str:
    decoder, text = codecs.getincrementaldecoder(encoding)("replace"), ""
    for chunk in chunks:
        text += decoder.decode(chunk[:_SAMPLE])
        if len(text) >= _SAMPLE:
            break
    return text


def _detect_delimiter(sample: str) -> str:
    """Return the delimiter with the most equal numbers of columns in the first lines; a comma for a single column."""
    if not sample.strip():
        raise FileFault("empty")
    beginning = sample.lstrip("\ufeff")[:6].lower()
    if beginning.startswith("sep=") and beginning[4:5] in DELIMITERS:
        return beginning[4]
    return max(DELIMITERS, key=lambda each: _column_agreement(sample, each))


def _column_agreement(sample: str, delimiter: str) -> tuple[float, int]:
    widths = []
    try:
        for cells in csv.reader(io.StringIO(sample.lstrip("\ufeff"), newline=""), delimiter=delimiter, strict=True):
            if any(map(str.strip, cells)):
                widths.append(len(cells))
            if len(widths) == 20:
                break
    except csv.Error:
        pass  # the sample may end within quotes; the rows before count
    if not widths or widths[0] < 2:
        return 0.0, 0
    return sum(width == widths[0] for width in widths) / len(widths), widths[0]


def _blank_sep_line(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines with a blank one for Excel's first line "sep=;", so that line numbers stay correct."""
    for number, line in enumerate(lines):
        text = line.strip().lower()
        yield "\n" if number == 0 and len(text) <= 5 and text.startswith("sep=") else line


class _ChunkReader(io.RawIOBase):
    """A file object over an iterable of chunks."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the stubs want any buffer
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        taken = min(len(buffer), len(self._rest))
        buffer[:taken] = self._rest[:taken]
        self._rest = self._rest[taken:]
        return taken
