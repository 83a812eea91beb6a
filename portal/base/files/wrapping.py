"""Where lines of text may end, in all scripts, and the size at which a text fits into a box.

Words of every alphabet stay together; they break only after a hyphen. Chinese and Japanese break between any two
characters, but not before closing marks and small kana, nor after opening marks. Thai has no spaces between words; as
its words are not known here, it breaks only at spaces. A word that is wider than the line breaks between what a reader
sees as characters.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_HYPHENS = "-\u2010"
_NO_BREAK = "\u00a0\u202f\u2060\ufeff"
_NOT_FIRST = set(
    "、。，．：；！？」』）】》〉〕］｝・ー々ゝゞヽヾ～…‥%％,.:;!?)]}’”｡､｣･ｰﾞﾟぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
)
_NOT_LAST = set("「『（【《〈〔［｛([{‘“｢￥$")
# Kana, Chinese characters, full-width forms and emoji. Korean is not here, because it has spaces between words.
_BREAKS_ANYWHERE = re.compile(
    r"[\u2e80-\u303f\u3041-\u312f\u3190-\u9fff\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff9f\uffe0-\uffe6"
    r"\U00016fe0-\U0001b2ff\U0001f000-\U0001faff\U00020000-\U0003ffff]"
)
_ZWJ = "\u200d"
# Vowels of Thai and Lao that are written before their consonant, and those after it.
_BEFORE_CONSONANT, _AFTER_CONSONANT = set("เแโใไເແໂໃໄ"), set("ะาำๅๆฯະາຳໆຯ")
_VIRAMA = 9  # the combining class of signs that join two consonants


@dataclass(frozen=True)
class FittedText:
    """Lines of text at a size in points."""

    size: float
    lines: list[str]

    @property
    def height(self) -> float:
        """Return the height in millimetres."""
        return len(self.lines) * line_height(self.size)


def line_height(size: float) -> float:
    """Return the line height in millimetres for a size in points."""
    return size * 0.3528 * 1.25


def fit_text(
    text: str, width: float, height: float, sizes: tuple[float, float], measure: Callable[[str, float], float]
) -> FittedText:
    """Return the text at the largest size that fits into width x height millimetres without breaking a word.

    `sizes` is (largest, smallest), and `measure(text, size)` returns a text's width. At the smallest size, the text may
    be higher than `height`, because a complete name is more important.
    """
    size = sizes[0]

    def width_of(piece: str) -> float:
        return measure(piece, size)

    longest = max(pieces(text), key=lambda piece: width_of(piece.rstrip()), default="").rstrip()
    while True:
        lines = list(wrap_text(text, width, width_of))
        fits = len(lines) * line_height(size) <= height and width_of(longest) <= width
        if fits or size <= sizes[1]:
            return FittedText(size, lines)
        size = max(size - 1, sizes[1])


def wrap_text(text: str, width: float, measure: Callable[[str], float]) -> Iterator[str]:
    """Yield lines no wider than `width`. A single piece that is wider is broken between characters."""
    text = " ".join(text.split())
    if measure(text) <= width:
        yield from [text] if text else []
        return
    line = ""
    for piece in pieces(text):
        if line and measure(line + piece.rstrip()) > width:
            yield line.rstrip()
            line = ""
        if measure(piece.rstrip()) > width:
            *full, piece = _break_piece(piece, width, measure)
            yield from full
        line += piece
    if line.strip():
        yield line.rstrip()


def _break_piece(piece: str, width: float, measure: Callable[[str], float]) -> Iterator[str]:
    line = ""
    for cluster in clusters(piece):
        if line and measure((line + cluster).rstrip()) > width:
            yield line
            line = ""
        line += cluster
    yield line


def pieces(text: str) -> Iterator[str]:
    """Yield the parts of a text between which a line may end. Spaces belong to the part before them."""
    piece = before = ""
    for cluster in clusters(text):
        if piece and _may_break(piece, before, cluster):
            yield piece
            piece = ""
        piece += cluster
        before = cluster
    if piece:
        yield piece


def _may_break(piece: str, before: str, after: str) -> bool:
    if after.isspace() or after[0] in _NO_BREAK or before[0] in _NO_BREAK:
        return False
    if before.isspace() or before == "\u200b":
        return True
    if before in _HYPHENS:
        return after[0].isalpha() and piece[-2:-1].isalpha()
    if after[0] in _NOT_FIRST or before[0] in _NOT_LAST:
        return False
    return bool(_BREAKS_ANYWHERE.match(before) or _BREAKS_ANYWHERE.match(after))


def clusters(text: str) -> Iterator[str]:
    """Yield what a reader sees as single characters: a letter with its marks, a joined emoji, a syllable."""
    cluster = ""
    for character in text:
        if cluster and not _belongs_to(cluster, character):
            yield cluster
            cluster = ""
        cluster += character
    if cluster:
        yield cluster


def _belongs_to(cluster: str, character: str) -> bool:
    """Return whether a character is a part of the cluster before it."""
    last = cluster[-1]
    if unicodedata.category(character).startswith("M") or character == _ZWJ or character in _AFTER_CONSONANT:
        return True
    if last == _ZWJ or last in _BEFORE_CONSONANT or _is_skin_tone(character):
        return True
    if _is_flag_letter(character):
        return len(cluster) == 1 and _is_flag_letter(last)
    if _is_jamo(last) and _is_jamo(character):
        return not "\u1100" <= character <= "\u115f" or "\u1100" <= last <= "\u115f"
    return unicodedata.combining(last) == _VIRAMA and unicodedata.category(character) == "Lo"


def _is_skin_tone(character: str) -> bool:
    return "\U0001f3fb" <= character <= "\U0001f3ff"


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_jamo(character: str) -> bool:
    return "\u1100" <= character <= "\u11ff" or "\uac00" <= character <= "\ud7a3"
