"""The drawing of badges and slips as PDF, in millimetres.

A badge is a card of 91 x 55 mm, ten on an A4 sheet, for common perforated sheets. A slip is for a label printer: as
long as needed on a roll, or as large as a die-cut label.
"""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from segno import QRCode

from portal.base.files.documents import Document
from portal.base.files.wrapping import fit_text, line_height
from portal.base.ui import qr_drawing
from portal.codes.badges import Badge
from portal.domain.visits.models import SlipPaper

CARD, ACROSS, DOWN = (91.0, 55.0), 2, 5
A4 = (210.0, 297.0)
SLOTS = ACROSS * DOWN
_SMALL = (9.0, 5.5)
# Sizes that are tried for a slip on a label.
_SCALES = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3)


def render_badges(badges: Sequence[Badge], *, first: int = 1) -> bytes:
    """Return A4 sheets of badges. `first` is the slot (1 to 10) of the first badge on a sheet that is partly used."""
    pdf = _new_document(A4)
    left, top = (A4[0] - ACROSS * CARD[0]) / 2, (A4[1] - DOWN * CARD[1]) / 2
    start = min(max(first, 1), SLOTS) - 1
    for place, badge in enumerate(badges, start=start):
        slot = place % SLOTS
        if slot == 0 or place == start:
            pdf.add_page()
        _draw_card(pdf, badge, left + slot % ACROSS * CARD[0], top + slot // ACROSS * CARD[1])
    return bytes(pdf.output())


def render_slips(badges: Sequence[Badge], paper: SlipPaper) -> bytes:
    """Return one slip for each guest: as long as needed on a roll, otherwise made smaller until it fits the label."""
    width, height = paper.size
    pdf = _new_document((width, height or width))
    for badge in badges:
        lengths = ((scale, _draw_slip(pdf, badge, width, scale, measure_only=True)) for scale in _SCALES)
        scale, length = next(each for each in lengths if each[0] == _SCALES[-1] or each[1] <= (height or each[1]))
        pdf.add_page(format=(width, height or length))
        _draw_slip(pdf, badge, width, scale)
    return bytes(pdf.output())


def _new_document(size: tuple[float, float]) -> Document:
    pdf = Document(size, text_size=10)
    pdf.set_auto_page_break(False)
    pdf.set_title(_("Guest badges"))
    return pdf


def _draw_card(pdf: Document, badge: Badge, x: float, y: float) -> None:
    _draw_cut_marks(pdf, x, y)
    inner, edge = 5.0, CARD[1] - 10
    code = (edge if badge.is_large else 34.0) if badge.code else 0.0
    if badge.code:
        _draw_code(pdf, badge.code, x + CARD[0] - inner - code, y + (CARD[1] - code) / 2, code)
    width, left, foot = CARD[0] - 2 * inner - (code + 3 if code else 0), x + inner, y + CARD[1] - inner
    lines = [line for line in (badge.company, _host_text(badge)) if line]
    when = _draw_text(pdf, badge.hours.period, left, 0, width, 8, _SMALL, measure_only=True)
    room = sum(_draw_text(pdf, line, left, 0, width, 7, _SMALL, measure_only=True) + 0.8 for line in lines) + when + 3
    at = _draw_text(pdf, badge.kind, left, y + inner, width, 6, (12, 8)) + 0.5
    at = _draw_text(pdf, badge.building, left, at, width, 6, (8, 5.5), grey=True) + 1.2
    at = _draw_text(pdf, badge.name, left, at, width, foot - room - at, (24, 8)) + 1.5
    for line in lines:
        at = _draw_text(pdf, line, left, at, width, 7, _SMALL) + 0.8
    _draw_text(pdf, badge.hours.period, left, max(at, foot - when), width, 8, _SMALL)


def _draw_slip(pdf: Document, badge: Badge, paper: float, scale: float, *, measure_only: bool = False) -> float:
    """Draw a slip and return its length in millimetres. With `measure_only`, nothing is drawn."""
    margin = paper / 16
    width, at = paper - 2 * margin, 6 * scale
    rows = (
        (badge.kind, 7, (14, 10), 1, False),
        (badge.building, 8, (10, 7), 2, True),
        (badge.name, 30, (26, 11), 2, False),
        (badge.company, 12, (12, 8), 1, False),
        (_host_text(badge), 12, (12, 8), 1, False),
        (badge.hours.period, 6, (12, 8), 3, False),
        ("" if badge.code else _no_code_text(badge), 20, (10, 8), 0, True),
    )
    for text, height, (largest, smallest), gap, is_grey in rows:
        sizes = (largest * scale, smallest * scale)
        below = _draw_text(pdf, text, margin, at, width, height * scale, sizes, grey=is_grey, measure_only=measure_only)
        at = below + gap * scale if text else at
    if badge.code:
        code = width * (1 if badge.is_large else 0.8) * max(scale, 0.6)
        if not measure_only:
            _draw_code(pdf, badge.code, (paper - code) / 2, at, code)
        at += code + 2 * scale
        hint, sizes = _("Hold the code up to the reader."), (9 * scale, 7 * scale)
        at = _draw_text(pdf, hint, margin, at, width, 12, sizes, grey=True, measure_only=measure_only)
    return at + 8 * scale


def _host_text(badge: Badge) -> str:
    return _("Host: %(name)s") % {"name": badge.host} if badge.host else ""


def _no_code_text(badge: Badge) -> str:
    return badge.hours.title if badge.hours.is_over else _("The code was sent by e-mail.")


def _draw_text(
    pdf: Document, text: str, x: float, y: float, width: float, height: float, sizes: tuple[float, float],
    *, grey: bool = False, measure_only: bool = False,
) -> float:  # fmt: skip
    """Draw a text as large as it fits into a box and return the y position below it."""
    if not text:
        return y

    placed = fit_text(text, width, height, sizes, pdf.width_of)
    if not measure_only:
        pdf.set_text_color(pdf.GREY if grey else pdf.INK)
        for number, line in enumerate(placed.lines):
            pdf.draw_line(line, x, y + line_height(placed.size) * (number + 0.76), placed.size, whole=text)
    return y + placed.height


def _draw_code(pdf: Document, code: QRCode, x: float, y: float, size: float) -> None:
    """Draw the code with its quiet zone inside `size`. Rows overlap slightly, to hide seams in PDF viewers."""
    module = size / qr_drawing.code_width(code)
    pdf.set_fill_color(0)
    for row, column, length in qr_drawing.dark_runs(code):
        left, top = x + (column + qr_drawing.QUIET_ZONE) * module, y + (row + qr_drawing.QUIET_ZONE) * module
        pdf.rect(left, top, length * module, module * 1.02, style="F")


def _draw_cut_marks(pdf: Document, x: float, y: float) -> None:
    """Draw corner marks for paper that is not perforated."""
    pdf.set_draw_color(190)
    pdf.set_line_width(0.1)
    for cx, sx in ((x, 1), (x + CARD[0], -1)):
        for cy, sy in ((y, 1), (y + CARD[1], -1)):
            pdf.line(cx, cy, cx + 3 * sx, cy)
            pdf.line(cx, cy, cx, cy + 3 * sy)
