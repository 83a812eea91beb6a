"""Badges and slips as PDF, drawn in millimetres, with the part of Noto Sans JP that they need embedded.

A badge is a card of 91 x 55 mm, ten on an A4 sheet: the size that perforated sheets are sold in. A slip comes off an
80 mm roll.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from fpdf import FPDF
from segno import QRCode

from portal.codes.badges import Badge
from portal.core.files import fonts
from portal.core.ui import drawing

CARD, ACROSS, DOWN = (91.0, 55.0), 2, 5
A4 = (210.0, 297.0)
SLOTS = ACROSS * DOWN
SLIP_WIDTH, _SLIP_MARGIN = 80.0, 5.0
_INK, _GREY = 20, 95
_SMALL = (9.0, 5.5)
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

    def width_of(piece: str) -> float:
        return measure(piece, size)

    longest = max(_PIECE.findall(text), key=lambda piece: width_of(piece.rstrip()), default="").rstrip()
    while True:
        lines = list(wrap(text, width, width_of))
        fits = len(lines) * line_height(size) <= height and width_of(longest) <= width
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


def cards(badges: Sequence[Badge], *, first: int = 1) -> bytes:
    """A4 sheets of badges; `first` is the slot, from 1 to 10, that the first one takes on a sheet begun before."""
    pdf = _document(A4)
    left, top = (A4[0] - ACROSS * CARD[0]) / 2, (A4[1] - DOWN * CARD[1]) / 2
    start = min(max(first, 1), SLOTS) - 1
    for place, badge in enumerate(badges, start=start):
        slot = place % SLOTS
        if slot == 0 or place == start:
            pdf.add_page()
        _card(pdf, badge, left + slot % ACROSS * CARD[0], top + slot // ACROSS * CARD[1])
    return bytes(pdf.output())


def slips(badges: Sequence[Badge]) -> bytes:
    """One slip a guest, each as long as it needs to be."""
    pdf = _document((SLIP_WIDTH, 200))
    for badge in badges:
        pdf.add_page(format=(SLIP_WIDTH, _slip(pdf, badge, dry=True)))
        _slip(pdf, badge)
    return bytes(pdf.output())


class _Paper(FPDF):
    """A document that knows how wide its characters are: each is asked for once, and grows with the size."""

    def __init__(self, size: tuple[float, float]) -> None:
        super().__init__(unit="mm", format=size)
        self._widths: dict[str, float] = {}

    def width_of(self, text: str, size: float) -> float:
        """In millimetres, for a size in points."""
        return sum(self._width(character) for character in text) * size

    def _width(self, character: str) -> float:
        if character not in self._widths:
            self.set_font_size(10)
            self._widths[character] = float(self.get_string_width(character)) / 10
        return self._widths[character]


def _document(size: tuple[float, float]) -> _Paper:
    pdf = _Paper(size)
    pdf.set_margin(0)
    pdf.set_auto_page_break(False)
    fonts.add_font(pdf)
    pdf.set_font(fonts.NAME, size=10)
    pdf.set_title(_("Guest badges"))
    return pdf


def _card(pdf: _Paper, badge: Badge, x: float, y: float) -> None:
    _corners(pdf, x, y)
    inner, edge = 5.0, CARD[1] - 10
    code = (edge if badge.is_dense else 34.0) if badge.code else 0.0
    if badge.code:
        _code(pdf, badge.code, x + CARD[0] - inner - code, y + (CARD[1] - code) / 2, code)
    width, left, foot = CARD[0] - 2 * inner - (code + 3 if code else 0), x + inner, y + CARD[1] - inner
    rest = [line for line in (badge.company, _host(badge)) if line]
    when = _text(pdf, badge.hours.span, left, 0, width, 8, _SMALL, dry=True)
    room = sum(_text(pdf, line, left, 0, width, 7, _SMALL, dry=True) + 0.8 for line in rest) + when + 3
    at = _text(pdf, badge.kind, left, y + inner, width, 6, (12, 8)) + 0.5
    at = _text(pdf, badge.building, left, at, width, 6, (8, 5.5), grey=True) + 1.2
    at = _text(pdf, badge.name, left, at, width, foot - room - at, (24, 8)) + 1.5
    for line in rest:
        at = _text(pdf, line, left, at, width, 7, _SMALL) + 0.8
    _text(pdf, badge.hours.span, left, max(at, foot - when), width, 8, _SMALL)


def _slip(pdf: _Paper, badge: Badge, *, dry: bool = False) -> float:
    """Draw a slip, or with `dry` only find out how long it is; the length in millimetres."""
    x, width = _SLIP_MARGIN, SLIP_WIDTH - 2 * _SLIP_MARGIN
    at = 6.0
    at = _text(pdf, badge.kind, x, at, width, 7, (14, 10), dry=dry) + 1
    at = _text(pdf, badge.building, x, at, width, 8, (10, 7), grey=True, dry=dry) + 2
    at = _text(pdf, badge.name, x, at, width, 30, (26, 11), dry=dry) + 2
    for line in (badge.company, _host(badge)):
        at = _text(pdf, line, x, at, width, 12, (12, 8), dry=dry) + (1 if line else 0)
    at = _text(pdf, badge.hours.span, x, at + 1, width, 6, (12, 8), dry=dry) + 3
    if badge.code:
        code = width if badge.is_dense else 56.0
        if not dry:
            _code(pdf, badge.code, (SLIP_WIDTH - code) / 2, at, code)
        at += code + 2
        at = _text(pdf, _("Hold the code up to the reader."), x, at, width, 12, (9, 7), grey=True, dry=dry)
    else:
        at = _text(pdf, _missing(badge), x, at, width, 20, (10, 8), grey=True, dry=dry)
    return at + 8


def _host(badge: Badge) -> str:
    return _("Host: %(name)s") % {"name": badge.host} if badge.host else ""


def _missing(badge: Badge) -> str:
    return badge.hours.title if badge.hours.is_over else _("The code was sent by e-mail.")


def _text(
    pdf: _Paper, text: str, x: float, y: float, width: float, height: float, sizes: tuple[float, float],
    *, grey: bool = False, dry: bool = False,
) -> float:  # fmt: skip
    """Set a text into a box as large as it fits; returns where it ends."""
    if not text:
        return y

    placed = fit(text, width, height, sizes, pdf.width_of)
    if not dry:
        pdf.set_font_size(placed.size)
        pdf.set_text_color(_GREY if grey else _INK)
        for number, line in enumerate(placed.lines):
            pdf.text(x, y + line_height(placed.size) * (number + 0.76), line)
    return y + placed.height


def _code(pdf: _Paper, code: QRCode, x: float, y: float, size: float) -> None:
    """The code, its quiet zone inside `size`. Rows overlap a little, so that no viewer shows seams between them."""
    module = size / drawing.side(code)
    pdf.set_fill_color(0)
    for row, column, length in drawing.runs(code):
        left, top = x + (column + drawing.QUIET) * module, y + (row + drawing.QUIET) * module
        pdf.rect(left, top, length * module, module * 1.02, style="F")


def _corners(pdf: _Paper, x: float, y: float) -> None:
    """Where to cut, for paper that is not perforated."""
    pdf.set_draw_color(190)
    pdf.set_line_width(0.1)
    for cx, sx in ((x, 1), (x + CARD[0], -1)):
        for cy, sy in ((y, 1), (y + CARD[1], -1)):
            pdf.line(cx, cy, cx + 3 * sx, cy)
            pdf.line(cx, cy, cx, cy + 3 * sy)
