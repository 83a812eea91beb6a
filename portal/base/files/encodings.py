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
_MAX_WEIGHED = 20_000
# The decoder turns bytes that Shift-JIS does not use into these characters.
_NOT_JAPANESE = re.compile("[\x00\x1b\x80\xa0\uf8f0-\uf8f3]")
_NUL = re.compile("\x00")
_KANJI, _HALF_KANA, _PRIVATE = "々〇\u4e00-\u9fff", "\uff66-\uff9f", "\ue000-\uf8ff\U000f0000-\U0010fffd"
_LETTER = "A-Za-zÀ-ÖØ-öø-ž"
DOUBTS = {
    "private_use": re.compile(f"[{_PRIVATE}]"),
    "half_kana": re.compile(
        f"[a-z][{_HALF_KANA}]|[{_HALF_KANA}][a-z]|[A-Z][{_HALF_KANA}]{{1,2}}[A-Z]|[A-Za-z][{_KANJI}]{{1,2}}[a-z]"
        f"|[{_HALF_KANA}][{_KANJI}][{_HALF_KANA}]"
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
    trials = list(_try_all(chunks))
    if wanted in ENCODINGS:
        trials = [_try(chunks, wanted), *(trial for trial in trials if trial.encoding != wanted)]
        if trials[0].misfit is not None:
            raise FileFault("other_encoding", line=trials[0].misfit, encoding=wanted)
    fitting = {trial.encoding: trial for trial in trials if trial.misfit is None}
    chosen = fitting[wanted] if wanted in ENCODINGS else _most_plausible(fitting, trials)
    others = [name for name in fitting if name != chosen.encoding]
    doubts = [code for code in DOUBTS if code in chosen.doubts]
    if wanted not in ENCODINGS and _are_alike(chosen, fitting):
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
        chunks, encoding = _jis_to_shift_jis(chunks), "cp932"
    return io.TextIOWrapper(io.BufferedReader(_ChunkReader(chunks)), encoding=encoding, newline="")


@dataclass
class _Trial:
    """A trial of one encoding. `misfit` is the line of the first byte that does not fit, or is NUL.

    `good` and `bad` count the letters that are likely and unlikely in a list of people.
    """

    encoding: str
    misfit: int | None = None
    has_nul: bool = False
    is_ascii: bool = True
    sample: str = ""
    doubts: set[str] = field(default_factory=set)
    good: int = 0
    bad: int = 0

    @property
    def is_plausible(self) -> bool:
        return self.good > self.bad or self.bad == 0


def _try_all(chunks: Chunks) -> Iterator[_Trial]:
    """Try the encodings that come into question: only one if a mark names it, or if there is nothing to decode."""
    beginning = b""
    for chunk in chunks():
        beginning += chunk[:_SAMPLE]
        if len(beginning) >= _SAMPLE:
            break
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield _try(chunks, "utf-16")
    elif order := _utf_16_order(beginning):
        yield _try(chunks, order)
    elif any(b"\x1b$" in chunk or b"\x1b(" in chunk for chunk in chunks()):
        yield _try(chunks, "iso2022_jp")
    else:
        unicode = _try(chunks, "utf-8-sig")
        yield unicode
        if not (beginning.startswith(codecs.BOM_UTF8) or (unicode.is_ascii and unicode.misfit is None)):
            yield from (_try(chunks, name) for name in ("cp932", "cp1252"))


def _utf_16_order(beginning: bytes) -> str:
    """Return the encoding of UTF-16 without a mark, by the zeros in its ASCII characters; empty for other files."""
    even, odd = beginning[0::2].count(0), beginning[1::2].count(0)
    if max(even, odd) * 20 < len(beginning) // 2 or even + odd < 2:
        return ""
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = beginning[: len(beginning) // 2 * 2].decode(encoding, "replace")
    return encoding if "\x00" not in text and re.search(r"[\n\r]", text) else ""


def _try(chunks: Chunks, encoding: str) -> _Trial:
    """Decode the whole file."""
    trial, lines, pending = _Trial(encoding), _LineCount(), ""
    for text, fault in _decode(chunks(), encoding):
        if fault is not None:
            trial.misfit, trial.has_nul = lines.at(text), fault == "\x00"
            return trial
        if len(trial.sample) < _SAMPLE:
            trial.sample += text[:_SAMPLE]
        lines.add(text)
        pending += text
        whole = max(pending.rfind("\n"), pending.rfind("\r")) + 1 or (len(pending) if len(pending) > _SAMPLE else 0)
        _examine(trial, pending[:whole])
        pending = pending[whole:]
    _examine(trial, pending)
    return trial


def _decode(chunks: Iterable[bytes], encoding: str) -> Iterator[tuple[str, str | None]]:
    """Yield the text in pieces, with None; or the text before what does not fit, with the character if it is one."""
    is_japanese = encoding in ("cp932", "iso2022_jp")
    if encoding == "iso2022_jp":
        chunks, encoding = _jis_to_shift_jis(chunks), "cp932"
    decoder = codecs.getincrementaldecoder(encoding)()
    for chunk, is_last in itertools.chain(((chunk, False) for chunk in chunks), [(b"", True)]):
        try:
            text = decoder.decode(chunk, is_last)
        except UnicodeDecodeError as error:
            yield error.object[: error.start].decode(encoding, "replace"), ""
            return
        except UnicodeError:  # UTF-16 without its mark
            yield "", ""
            return
        if fault := (_NOT_JAPANESE if is_japanese else _NUL).search(text):
            yield text[: fault.start()], fault[0]
            return
        yield text, None


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
_ORDINARY_MARKS = re.compile(
    "(?<=[^\\W\\d_])[’´](?=[^\\W\\d_])|[\xa0ªº°·€¿¡«»§]|(?<=[ \\d])[–—](?=[ \\d])"
    "|(?<![^\\s,;(])[“„](?=\\w)|(?<=[\\w.!?])[”“](?![^\\s,;.)])"
)
_FOREIGN = re.compile("[^\x00-\x7f]+")
_JAPANESE_TOKEN = re.compile("[^\\s,;\"'@.()\\-]*[^\x00-\x7f][^\\s,;\"'@.()\\-]*")
_SHORT_HALF_KANA = re.compile(f"(?<![{_HALF_KANA}])[{_HALF_KANA}]{{1,2}}(?![{_HALF_KANA}])")


def _examine(trial: _Trial, text: str) -> None:
    """Look for doubts, and count likely and unlikely letters.

    Western accents are alone among ASCII letters; Japanese is not.
    """
    trial.is_ascii = trial.is_ascii and text.isascii()
    trial.doubts |= find_doubts(text)
    if text.isascii() or trial.good + trial.bad > _MAX_WEIGHED:
        return
    if trial.encoding == "cp1252":
        for run in _FOREIGN.finditer(_ORDINARY_MARKS.sub(" ", text)):
            around = _text_around(run)
            is_accent = _WESTERN.fullmatch(run[0]) and any(char.isascii() and char.isalpha() for char in around)
            trial.good += len(run[0]) if is_accent else 0
            trial.bad += 0 if is_accent else len(run[0])
    elif trial.encoding == "cp932":
        for token in _JAPANESE_TOKEN.findall(text):
            count = sum(not char.isascii() for char in token)
            is_mixed = re.search("[a-z]", token) or (re.search("[A-Z]", token) and _SHORT_HALF_KANA.search(token))
            trial.bad += count if is_mixed else 0
            trial.good += 0 if is_mixed else count


def _text_around(found: re.Match[str]) -> str:
    """Return the characters before and after a match."""
    return found.string[max(found.start() - 1, 0) : found.start()] + found.string[found.end() : found.end() + 1]


def _most_plausible(fitting: dict[str, _Trial], trials: list[_Trial]) -> _Trial:
    """Return the trial to use. Raises FileFault `nul` or `encoding` with the line that nothing fits."""
    japanese, western = fitting.get("cp932"), fitting.get("cp1252")
    for name, trial in fitting.items():
        if name not in ("cp932", "cp1252"):
            return trial
    if western and western.is_plausible and (not japanese or japanese.good - japanese.bad < western.good - western.bad):
        return western
    if japanese:
        return japanese
    nul = next((trial for trial in trials if trial.has_nul), None)
    if nul:
        raise FileFault("nul", line=nul.misfit)
    raise FileFault("encoding", line=max((trial.misfit for trial in trials if trial.misfit is not None), default=1))


def _are_alike(chosen: _Trial, fitting: dict[str, _Trial]) -> bool:
    """Return True if Shift-JIS and Windows-1252 both fit, and the text shows no clear winner."""
    if chosen.encoding == "cp932":
        return "cp1252" in fitting and fitting["cp1252"].is_plausible
    return chosen.encoding == "cp1252" and "cp932" in fitting


_JIS_MODE = re.compile(rb"\x1b(\$[@B]|\([BJHI])")
_NOT_JIS = re.compile(rb"[\x80-\xff]")
_JIS_PAIR = re.compile(rb"[\x21-\x7e]{2}")
_JIS_KANA = re.compile(rb"[\x21-\x5f]")


def _jis_to_shift_jis(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield ISO-2022-JP as Shift-JIS, which has the circled numbers and name kanji that Windows writes there too."""
    rest = b""
    for chunk in chunks:
        # A line ends in ASCII, so that the next one needs nothing of it.
        whole, end, rest = (rest + chunk).rpartition(b"\n")
        yield _shift_lines(whole + end)
    yield _shift_lines(rest)


def _shift_lines(data: bytes) -> bytes:
    first, *rest = _JIS_MODE.split(_NOT_JIS.sub(b"\x80", data))
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
