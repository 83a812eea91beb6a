"""CSV as it comes out of Excel, Japanese systems and databases: encoding and delimiter are found, values left alone."""

import codecs
import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from portal.core.files.file_limits import MAX_CELL, FileFault

ENCODINGS = ("utf-8-sig", "cp932")
DELIMITERS = (",", ";", "\t")
# Bytes that Shift-JIS does not use are let through by the decoder as these.
_NOT_JAPANESE = re.compile("[\x80\xa0\uf8f0-\uf8f3]")
_SAMPLE = 64 * 1024
Line = tuple[int, list[str]]


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    encoding: str
    delimiter: str


def detect_dialect(chunks: Iterable[bytes]) -> Dialect:
    """The dialect of a file. Raises FileFault: `nul`, `encoding`, `empty`."""
    encoding, sample = _detect_encoding(chunks)
    return Dialect(encoding, _detect_delimiter(sample))


def read_rows(chunks: Iterable[bytes], dialect: Dialect) -> Iterator[Line]:
    """(line number, cells) of every line that is not blank; a record over several lines has the number of its first.

    Raises FileFault `quotes` or `cell` with the line, when the file breaks off the rules of CSV.
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
    """UTF-16 by its mark, else UTF-8 or else Shift-JIS (as Windows writes it), if every byte agrees."""
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
    """One encoding, for as long as every byte agrees with it."""

    def __init__(self, name: str) -> None:
        self._decoder = codecs.getincrementaldecoder(name)()
        self._japanese = name == "cp932"
        self.sample = ""

    def feed(self, chunk: bytes, *, final: bool) -> int | None:
        """None while it agrees, else how many lines of the chunk come before the fault."""
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
    """Drop the encodings that do not agree. Raises FileFault when none is left."""
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
    """The delimiter with which the first lines agree best on a number of columns; a comma for a single column."""
    if not sample.strip():
        raise FileFault("empty")
    said = sample.lstrip("\ufeff")[:6].lower()
    if said.startswith("sep=") and said[4:5] in DELIMITERS:
        return said[4]
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
        pass  # the sample may end within quotes; what was read counts
    if not widths or widths[0] < 2:
        return 0.0, 0
    return sum(width == widths[0] for width in widths) / len(widths), widths[0]


def _blank_sep_line(lines: Iterable[str]) -> Iterator[str]:
    """Excel's own first line "sep=;" is no heading; it stays a line, so that the numbers are right."""
    for number, line in enumerate(lines):
        said = line.strip().lower()
        yield "\n" if number == 0 and len(said) <= 5 and said.startswith("sep=") else line


class _ChunkReader(io.RawIOBase):
    """An iterable of pieces as a file."""

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
