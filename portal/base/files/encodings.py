"""Find out the encoding of a text file, and what in the result looks as if the encoding were wrong.

The whole file is decoded strictly. Where Shift-JIS and Windows-1252 both fit, the more plausible text counts.
"""

import codecs
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from portal.base.files.file_limits import FileFault

Chunks = Callable[[], Iterable[bytes]]
# In the order in which they are tried.
ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso2022_jp", "cp932", "cp1252")
_SAMPLE = 64 * 1024
# The decoder turns bytes that Shift-JIS does not use into these characters.
_NOT_JAPANESE = re.compile("[\x1b\x80\xa0\uf8f0-\uf8f3]")
_KANJI, _HALF_KANA, _PRIVATE = "々〇\u4e00-\u9fff", "\uff66-\uff9f", "\ue000-\uf8ff\U000f0000-\U0010fffd"
_LETTER = "A-Za-zÀ-ÖØ-öø-ž"
DOUBTS = {
    "private_use": re.compile(f"[{_PRIVATE}]"),
    "half_kana": re.compile(
        f"[a-z][{_HALF_KANA}]|[{_HALF_KANA}][a-z]|[A-Z][{_HALF_KANA}]{{1,2}}[A-Z]|[A-Za-z][{_KANJI}]{{1,2}}[a-z]"
    ),
    "question_marks": re.compile(
        f"\ufffd|[{_LETTER}]\\?+(?!\\w*=)[{_LETTER}]|(?<![^\\s,;\"'])\\?(?:\\?+(?![^\\s,;\"'])|[a-z]{{2}})"
        f"|\\?[{_KANJI}ぁ-ヺ]"
    ),
    # UTF-8 that another program took for Windows-1252 or Shift-JIS, and saved.
    "garbled": re.compile(f"[ÃÂ][\x80-\xbf€‚„†‡ˆ‰‹’“”•™›]|â€|縺|繧[{_KANJI}{_HALF_KANA}]|ï»¿"),
}


@dataclass(frozen=True)
class FoundEncoding:
    """The encoding of a file, all that fit (this one first), doubts about the text, and its beginning."""

    encoding: str
    fitting: list[str]
    doubts: list[str]
    sample: str


def detect_encoding(chunks: Chunks, wanted: str = "") -> FoundEncoding:
    """Return the encoding of a file, or what the wanted one gives. Raises FileFault: `nul`, `encoding`, `empty`."""
    first = next(iter(chunks()), b"")
    if not first:
        raise FileFault("empty")
    trials = [_try(chunks, name) for name in _candidates(first, chunks)]
    if wanted in ENCODINGS:
        trials = [_try(chunks, wanted), *(trial for trial in trials if trial.encoding != wanted)]
        if trials[0].misfit is not None:
            raise FileFault("other_encoding", line=trials[0].misfit, encoding=wanted)
    fitting = [trial for trial in trials if trial.misfit is None]
    chosen = fitting[0] if wanted in ENCODINGS else _most_plausible(fitting, trials)
    others = [trial.encoding for trial in fitting if trial is not chosen]
    doubts = [code for code in DOUBTS if code in chosen.doubts]
    if _are_alike(chosen, fitting) and wanted not in ENCODINGS:
        doubts.append("two_encodings")
    return FoundEncoding(chosen.encoding, [chosen.encoding, *others], doubts, chosen.sample)


def find_doubts(text: str) -> set[str]:
    """Return the codes of what in a text looks as if letters were lost."""
    if text.isascii() and "?" not in text:
        return set()
    return {code for code, pattern in DOUBTS.items() if pattern.search(text)}


def open_text(chunks: Iterable[bytes], encoding: str) -> io.TextIOWrapper:
    """Return a file as text, with its line ends unchanged. Reading raises UnicodeDecodeError."""
    if encoding == "iso2022_jp":
        chunks, encoding = [_jis_to_shift_jis(b"".join(chunks))], "cp932"
    return io.TextIOWrapper(io.BufferedReader(_ChunkReader(chunks)), encoding=encoding, newline="")


@dataclass
class _Trial:
    """A trial of one encoding. `misfit` is the line of the first byte that does not fit.

    `good` and `bad` count the letters that are likely and unlikely in a list of people.
    """

    encoding: str
    misfit: int | None = None
    sample: str = ""
    is_ascii: bool = True
    has_escapes: bool = False
    doubts: set[str] = field(default_factory=set)
    good: int = 0
    bad: int = 0

    @property
    def is_plausible(self) -> bool:
        return self.good > self.bad


def _candidates(first: bytes, chunks: Chunks) -> Iterator[str]:
    """Yield the encodings to try: only one if a byte order mark names it. Raises FileFault `nul`."""
    if first.startswith(codecs.BOM_UTF8):
        yield "utf-8-sig"
    elif first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield "utf-16"
    elif wide := _utf_16_order(first):
        yield wide
    else:
        _refuse_nul(chunks())
        yield "utf-8-sig"
        if any(b"\x1b" in chunk for chunk in chunks()):
            yield "iso2022_jp"
        yield from ("cp932", "cp1252")


def _utf_16_order(first: bytes) -> str:
    """Return the encoding of UTF-16 without a mark, by the zeros in its ASCII characters; empty for other files."""
    beginning = first[:_SAMPLE]
    even, odd = beginning[0::2].count(0), beginning[1::2].count(0)
    if max(even, odd) * 20 < len(beginning) // 2:
        return ""
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = beginning[: len(beginning) // 2 * 2].decode(encoding, "replace")
    return encoding if "\x00" not in text and re.search(r"[\n\r]", text) else ""


def _refuse_nul(chunks: Iterable[bytes]) -> None:
    lines = _LineCount()
    for chunk in chunks:
        if b"\x00" in chunk:
            raise FileFault("nul", line=lines.at(chunk[: chunk.index(b"\x00")].decode("latin-1")))
        lines.add(chunk.decode("latin-1"))


def _try(chunks: Chunks, encoding: str) -> _Trial:
    """Decode the whole file."""
    trial, lines = _Trial(encoding), _LineCount()
    rest = ""
    for text, is_fitting in _decode(chunks(), encoding):
        if len(trial.sample) < _SAMPLE:
            trial.sample += text[:_SAMPLE]
        if not is_fitting:
            trial.misfit = lines.at(text)
            return trial
        lines.add(text)
        if not text.isascii() or "?" in text:
            trial.is_ascii = trial.is_ascii and text.isascii()
            trial.doubts |= find_doubts(rest + text)
            _weigh(trial, text)
            rest = text[-4:]
    return trial


def _decode(chunks: Iterable[bytes], encoding: str) -> Iterator[tuple[str, bool]]:
    """Yield the text in pieces, with False for the one before a byte that does not fit."""
    is_japanese = encoding in ("cp932", "iso2022_jp")
    if encoding == "iso2022_jp":
        chunks, encoding = [_jis_to_shift_jis(b"".join(chunks))], "cp932"
    decoder = codecs.getincrementaldecoder(encoding)()
    for chunk, is_last in itertools.chain(((chunk, False) for chunk in chunks), [(b"", True)]):
        try:
            text = decoder.decode(chunk, is_last)
        except UnicodeDecodeError as error:
            yield error.object[: error.start].decode(encoding, "replace"), False
            return
        fault = _NOT_JAPANESE.search(text) if is_japanese else None
        yield (text[: fault.start()], False) if fault else (text, True)
        if fault:
            return


class _LineCount:
    """Counts lines that end in LF, CRLF or CR."""

    def __init__(self) -> None:
        self._feeds = self._returns = 0

    def add(self, text: str) -> None:
        self._feeds += text.count("\n")
        self._returns += text.count("\r")

    def at(self, text: str) -> int:
        """Return the number of the line that the text ends in."""
        self.add(text)
        return 1 + (self._feeds or self._returns)


_WESTERN = re.compile("[À-ÖØ-öø-ÿŒœŠšŽžŸ]{1,2}")
_ORDINARY_MARKS = re.compile("(?<=[^\\W\\d_])[’´](?=[^\\W\\d_])|[\xa0ªº°·€¿¡«»&§]|(?<= )[–—](?= )")
_FOREIGN = re.compile("[^\x00-\x7f]+")
_JAPANESE_TOKEN = re.compile("[^\\s,;\"'@.()\\-]*[^\x00-\x7f][^\\s,;\"'@.()\\-]*")
_SHORT_HALF_KANA = re.compile(f"(?<![{_HALF_KANA}])[{_HALF_KANA}]{{1,2}}(?![{_HALF_KANA}])")


def _weigh(trial: _Trial, text: str) -> None:
    """Count likely and unlikely letters. Western accents are alone among ASCII letters; Japanese is not."""
    if trial.good + trial.bad > 20_000:
        return
    if trial.encoding == "cp1252":
        for run in _FOREIGN.finditer(_ORDINARY_MARKS.sub(" ", text)):
            around = text_around(run)
            is_accent = _WESTERN.fullmatch(run[0]) and any(char.isascii() and char.isalpha() for char in around)
            trial.good += len(run[0]) if is_accent else 0
            trial.bad += 0 if is_accent else len(run[0])
    elif trial.encoding == "cp932":
        for token in _JAPANESE_TOKEN.findall(text):
            count = sum(not char.isascii() for char in token)
            is_mixed = re.search("[a-z]", token) or (re.search("[A-Z]", token) and _SHORT_HALF_KANA.search(token))
            trial.bad += count if is_mixed else 0
            trial.good += 0 if is_mixed else count


def text_around(found: re.Match[str]) -> str:
    """Return the characters before and after a match."""
    return found.string[max(found.start() - 1, 0) : found.start()] + found.string[found.end() : found.end() + 1]


def _most_plausible(fitting: list[_Trial], trials: list[_Trial]) -> _Trial:
    """Return the trial to use. Raises FileFault `encoding` with the line that nothing fits."""
    by_name = {trial.encoding: trial for trial in fitting}
    japanese, western = by_name.get("cp932"), by_name.get("cp1252")
    for name in ("iso2022_jp", "utf-8-sig"):
        if name in by_name and (name != "iso2022_jp" or not by_name[name].is_ascii):
            return by_name[name]
    if fitting and fitting[0].encoding.startswith("utf-16"):
        return fitting[0]
    if western and western.is_plausible and (not japanese or japanese.good - japanese.bad < western.good - western.bad):
        return western
    if japanese:
        return japanese
    lines = [trial.misfit for trial in trials if trial.misfit is not None]
    raise FileFault("encoding", line=max(lines, default=1))


def _are_alike(chosen: _Trial, fitting: list[_Trial]) -> bool:
    """Return True if Shift-JIS and Windows-1252 both fit, and the text shows no clear winner."""
    names = {trial.encoding: trial for trial in fitting}
    if chosen.encoding == "cp932":
        return "cp1252" in names and names["cp1252"].is_plausible
    return chosen.encoding == "cp1252" and "cp932" in names


_JIS_MODE = re.compile(rb"\x1b(\$[@B]|\([BJHI])")
_JIS_PAIR = re.compile(rb"[\x21-\x7e]{2}")
_JIS_KANA = re.compile(rb"[\x21-\x5f]")


def _jis_to_shift_jis(data: bytes) -> bytes:
    """Return ISO-2022-JP as Shift-JIS, which has the circled numbers and name kanji that Windows writes there too."""
    first, *rest = _JIS_MODE.split(data)
    pieces = [first]
    for mode, text in zip(rest[::2], rest[1::2], strict=True):
        if mode.startswith(b"$"):
            pieces.append(_JIS_PAIR.sub(_shift, text))
        else:
            pieces.append(_JIS_KANA.sub(lambda found: bytes([found[0][0] | 0x80]), text) if mode == b"(I" else text)
    return b"".join(pieces)


def _shift(pair: re.Match[bytes]) -> bytes:
    row, cell = pair[0]
    lead = (row - 0x21) // 2 + 0x81
    trail = cell + (0x1F if cell < 0x60 else 0x20) if row % 2 else cell + 0x7E
    return bytes([lead if lead < 0xA0 else lead + 0x40, trail])


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
