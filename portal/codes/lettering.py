"""Text that fits: as large as the room allows, smaller and on more lines for long Japanese names, never cut off."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# A Latin word stays together, but for its hyphens; Japanese may break between any two characters, though not before
# closing marks, small kana and what combines with the character before it.
_LATIN = r"!-~\u00a0-\u024f"
_PIECE = re.compile(
    rf"[{_LATIN}]*?[A-Za-z\u00c0-\u024f]-(?=[A-Za-z])|[{_LATIN}]+\s*|\s+"
    r"|.[、。，．」』）】・ー々ゃゅょっャュョッ\u3099\u309a\ufe0f\u200d]*",
    re.DOTALL,
)


@dataclass(frozen=True)
class Set:
    """Lines at a size in points."""

    size: float
    lines: list[str]

    @property
    def height(self) -> float:
        """In millimetres."""
        return len(self.lines) * line_height(self.size)


def line_height(size: float) -> float:
    """In millimetres, for a size in points."""
    return size * 0.3528 * 1.25


def fit(
    text: str, width: float, height: float, sizes: tuple[float, float], measure: Callable[[str, float], float]
) -> Set:
    """The text at the largest size, from `sizes` (largest, smallest), at which it fits into width x height millimetres
    without breaking a word.

    `measure(text, size)` is a text's width. At the smallest size it is set however high it becomes: whoever reads a
    badge would rather have all of the name.
    """
    size = sizes[0]
    longest = max(_PIECE.findall(text), key=lambda piece: measure(piece.rstrip(), size), default="").rstrip()
    while True:
        lines = list(wrap(text, width, lambda piece, now=size: measure(piece, now)))
        fits = len(lines) * line_height(size) <= height and measure(longest, size) <= width
        if fits or size <= sizes[1]:
            return Set(size, lines)
        size = max(size - 1, sizes[1])


def wrap(text: str, width: float, measure: Callable[[str], float]) -> Iterator[str]:
    """Lines no wider than `width`. A piece that is wider alone is broken between characters."""
    line = ""
    for piece in _PIECE.findall(" ".join(text.split())):
        if line and measure(line + piece.rstrip()) > width:
            yield line.rstrip()
            line = ""
        while measure(piece.rstrip()) > width and len(piece) > 1:
            most = next((n for n in range(len(piece), 1, -1) if measure(piece[:n]) <= width), 1)
            yield piece[:most]
            piece = piece[most:]
        line += piece if line else piece.lstrip()
    if line.strip():
        yield line.rstrip()
