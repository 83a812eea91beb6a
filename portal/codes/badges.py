"""Badges and slips of guests: their contents, with a code's hours in words, and the drawing as PDF.

The PDF is drawn in millimetres, with the needed part of Noto Sans JP embedded. A badge is a card of 91 x 55 mm, ten on
an A4 sheet, for common perforated sheets. A slip is for an 80 mm roll.
"""

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from segno import QRCode

from portal.base.files.fonts import Document
from portal.base.ui import qr_drawing
from portal.base.ui.times import local
from portal.domain.visits.models import Stage, Visit
from portal.domain.visits.queries import code_data_by_visit
from tenants.models import Tenant

MOST_AT_ONCE = 500
# Bilingual, so that anyone who meets the guest understands it.
KIND = "GUEST 来訪者"


class CodePhase(StrEnum):
    """The effect of a code at a door now, as far as the portal knows."""

    NOT_STARTED = "not_yet"
    ACTIVE = "works"
    DEACTIVATING = "ending"  # deactivated, but not confirmed by the service: it may still open
    DEACTIVATED = "cut"
    ENDED = "ended"
    DELETED = "gone"  # the service deleted the guest


@dataclass(frozen=True)
class CodeHours:
    """The phase of a code at one moment, with its start and end."""

    phase: CodePhase
    start: datetime
    end: datetime

    @property
    def is_over(self) -> bool:
        return self.phase in (CodePhase.DEACTIVATED, CodePhase.ENDED, CodePhase.DELETED)

    @property
    def title(self) -> str:
        """Return the phase in one or two words."""
        return {
            CodePhase.NOT_STARTED: _("Not active yet"),
            CodePhase.ACTIVE: _("Active now"),
            CodePhase.DEACTIVATING: _("Deactivating"),
            CodePhase.DEACTIVATED: _("Deactivated"),
            CodePhase.ENDED: _("Ended"),
            CodePhase.DELETED: _("Deleted from the service"),
        }[self.phase]

    @property
    def sentence(self) -> str:
        """Return a sentence about the phase, with dates for days other than today."""
        now = timezone.now()
        at = {"start": _moment(self.start, now), "end": _moment(self.end, now, self.start)}
        if self.phase == CodePhase.NOT_STARTED:
            return _("Active from %(start)s to %(end)s") % at
        if self.phase == CodePhase.ACTIVE:
            return _("Active until %(end)s") % {"end": _moment(self.end, now)}
        if self.phase == CodePhase.DEACTIVATING:
            return _("It may still open doors until the service confirms.")
        if self.phase == CodePhase.DELETED:
            return _("It no longer opens any door.")
        return _("It stopped working at %(end)s.") % {"end": _moment(self.end, now)}

    @property
    def period(self) -> str:
        """Return `2026-11-21 09:00 – 18:00`, for paper."""
        begin, end = local(self.start), local(self.end)
        until = end.strftime("%H:%M" if begin.date() == end.date() else "%Y-%m-%d %H:%M")
        return f"{begin:%Y-%m-%d %H:%M} – {until}"


def hours_of(visit: Visit, now: datetime | None = None) -> CodeHours:
    """Return the phase and hours of a visit's code at `now`."""
    now = now or timezone.now()
    start, end = visit.use_date_start, visit.use_date_end
    if visit.gone_at is not None:
        phase = CodePhase.DELETED
    elif visit.may_still_open and end > now:
        phase = CodePhase.DEACTIVATING
    elif visit.is_cut:
        phase, end = CodePhase.DEACTIVATED, visit.deactivated_since or end
    elif end <= now:
        phase = CodePhase.ENDED
    else:
        phase = CodePhase.NOT_STARTED if start > now else CodePhase.ACTIVE
    return CodeHours(phase, start, end)


def _moment(moment: datetime, now: datetime, other: datetime | None = None) -> str:
    """Return only the time for today or the day of `other`; otherwise date and time."""
    local_time = local(moment)
    near = local(other if other is not None else now).date()
    return local_time.strftime("%H:%M" if local_time.date() == near else "%Y-%m-%d %H:%M")


@dataclass(frozen=True)
class Badge:
    """The badge or slip of one guest. `code` is None if it is unknown or no longer works."""

    building: str
    name: str
    company: str
    host: str
    hours: CodeHours
    code: QRCode | None

    @property
    def kind(self) -> str:
        return KIND

    @property
    def picture(self) -> str:
        return qr_drawing.draw_svg(self.code, self.name) if self.code else ""

    @property
    def is_large(self) -> bool:
        """Return whether the code needs more room than a short one."""
        return self.code is not None and qr_drawing.code_width(self.code) > 65


def badges_of(tenant: Tenant, visits: Sequence[Visit]) -> list[Badge]:
    """Return the badges of these visits in their order, with one query for all codes."""
    data = code_data_by_visit(visits)
    return [_badge(tenant, visit, data.get(visit.pk, "")) for visit in visits]


def visits_of_party(name: uuid.UUID) -> list[Visit]:
    """Return the issued visits of a party that have not ended, by name. Raises Http404 if there are none."""
    return _upcoming(Visit.objects.filter(party=name))


def upcoming_visits(keys: Iterable[int]) -> list[Visit]:
    """Return those of these visits that have not ended, by name, at most MOST_AT_ONCE.

    Raises Http404 if there are none.
    """
    return _upcoming(Visit.objects.filter(pk__in=list(keys)))


def _upcoming(visits: QuerySet[Visit]) -> list[Visit]:
    rows = visits.filter(stage=Stage.ISSUED, gone_at=None, erased_at=None)
    found = list(rows.order_by("name_key", "pk")[:MOST_AT_ONCE])
    if not found:
        raise Http404
    return found


def _badge(tenant: Tenant, visit: Visit, data: str) -> Badge:
    at = hours_of(visit)
    return Badge(
        building=tenant.name,
        name=str(visit),
        company=visit.company,
        host=visit.host_name,
        hours=at,
        code=None if at.is_over else symbol_of(data),
    )


def symbol_of(data: str) -> QRCode | None:
    """Return the QR code to draw, or None if the data is unknown or cannot be drawn."""
    try:
        return qr_drawing.build_code(data) if data else None
    except qr_drawing.NotDrawable:
        return None


CARD, ACROSS, DOWN = (91.0, 55.0), 2, 5
A4 = (210.0, 297.0)
SLOTS = ACROSS * DOWN
SLIP_WIDTH, _SLIP_MARGIN = 80.0, 5.0
_SMALL = (9.0, 5.5)
# Latin words break only at hyphens. Japanese breaks between any two characters, but not before closing marks, small
# kana and combining characters.
_LATIN = r"!-~\u00a0-\u024f"
_PIECE = re.compile(
    rf"[{_LATIN}]*?[A-Za-z\u00c0-\u024f]-(?=[A-Za-z])|[{_LATIN}]+\s*|\s+"
    r"|.[、。，．」』）】・ー々ゃゅょっャュョッ\u3099\u309a\ufe0f\u200d]*",
    re.DOTALL,
)


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

    longest = max(_PIECE.findall(text), key=lambda piece: width_of(piece.rstrip()), default="").rstrip()
    while True:
        lines = list(wrap_text(text, width, width_of))
        fits = len(lines) * line_height(size) <= height and width_of(longest) <= width
        if fits or size <= sizes[1]:
            return FittedText(size, lines)
        size = max(size - 1, sizes[1])


def wrap_text(text: str, width: float, measure: Callable[[str], float]) -> Iterator[str]:
    """Yield lines no wider than `width`. A single piece that is wider is broken between characters."""
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


def render_badges(badges: Sequence[Badge], *, first: int = 1) -> bytes:
    """Return A4 sheets of badges. `first` is the slot (1 to 10) of the first badge on a sheet that is partly used."""
    pdf = _BadgeDocument(A4)
    left, top = (A4[0] - ACROSS * CARD[0]) / 2, (A4[1] - DOWN * CARD[1]) / 2
    start = min(max(first, 1), SLOTS) - 1
    for place, badge in enumerate(badges, start=start):
        slot = place % SLOTS
        if slot == 0 or place == start:
            pdf.add_page()
        _draw_card(pdf, badge, left + slot % ACROSS * CARD[0], top + slot // ACROSS * CARD[1])
    return bytes(pdf.output())


def render_slips(badges: Sequence[Badge]) -> bytes:
    """Return one slip for each guest, each as long as needed."""
    pdf = _BadgeDocument((SLIP_WIDTH, 200))
    for badge in badges:
        pdf.add_page(format=(SLIP_WIDTH, _draw_slip(pdf, badge, measure_only=True)))
        _draw_slip(pdf, badge)
    return bytes(pdf.output())


class _BadgeDocument(Document):
    """A document that remembers the width of each character, which grows with the size."""

    def __init__(self, size: tuple[float, float]) -> None:
        super().__init__(size, text_size=10)
        self.set_auto_page_break(False)
        self.set_title(_("Guest badges"))
        self._widths: dict[str, float] = {}

    def width_of(self, text: str, size: float) -> float:
        """Return the width in millimetres for a size in points."""
        return sum(self._width(character) for character in text) * size

    def _width(self, character: str) -> float:
        if character not in self._widths:
            self.set_font_size(10)
            self._widths[character] = float(self.get_string_width(character)) / 10
        return self._widths[character]


def _draw_card(pdf: _BadgeDocument, badge: Badge, x: float, y: float) -> None:
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


def _draw_slip(pdf: _BadgeDocument, badge: Badge, *, measure_only: bool = False) -> float:
    """Draw a slip and return its length in millimetres. With `measure_only`, nothing is drawn."""
    x, width = _SLIP_MARGIN, SLIP_WIDTH - 2 * _SLIP_MARGIN
    at = 6.0
    at = _draw_text(pdf, badge.kind, x, at, width, 7, (14, 10), measure_only=measure_only) + 1
    at = _draw_text(pdf, badge.building, x, at, width, 8, (10, 7), grey=True, measure_only=measure_only) + 2
    at = _draw_text(pdf, badge.name, x, at, width, 30, (26, 11), measure_only=measure_only) + 2
    for line in (badge.company, _host_text(badge)):
        at = _draw_text(pdf, line, x, at, width, 12, (12, 8), measure_only=measure_only) + (1 if line else 0)
    at = _draw_text(pdf, badge.hours.period, x, at + 1, width, 6, (12, 8), measure_only=measure_only) + 3
    if badge.code:
        code = width if badge.is_large else 56.0
        if not measure_only:
            _draw_code(pdf, badge.code, (SLIP_WIDTH - code) / 2, at, code)
        at += code + 2
        at = _draw_text(
            pdf, _("Hold the code up to the reader."), x, at, width, 12, (9, 7), grey=True, measure_only=measure_only
        )
    else:
        at = _draw_text(pdf, _no_code_text(badge), x, at, width, 20, (10, 8), grey=True, measure_only=measure_only)
    return at + 8


def _host_text(badge: Badge) -> str:
    return _("Host: %(name)s") % {"name": badge.host} if badge.host else ""


def _no_code_text(badge: Badge) -> str:
    return badge.hours.title if badge.hours.is_over else _("The code was sent by e-mail.")


def _draw_text(
    pdf: _BadgeDocument, text: str, x: float, y: float, width: float, height: float, sizes: tuple[float, float],
    *, grey: bool = False, measure_only: bool = False,
) -> float:  # fmt: skip
    """Draw a text as large as it fits into a box and return the y position below it."""
    if not text:
        return y

    placed = fit_text(text, width, height, sizes, pdf.width_of)
    if not measure_only:
        pdf.set_font_size(placed.size)
        pdf.set_text_color(pdf.GREY if grey else pdf.INK)
        for number, line in enumerate(placed.lines):
            pdf.text(x, y + line_height(placed.size) * (number + 0.76), line)
    return y + placed.height


def _draw_code(pdf: _BadgeDocument, code: QRCode, x: float, y: float, size: float) -> None:
    """Draw the code with its quiet zone inside `size`. Rows overlap slightly, to hide seams in PDF viewers."""
    module = size / qr_drawing.code_width(code)
    pdf.set_fill_color(0)
    for row, column, length in qr_drawing.dark_runs(code):
        left, top = x + (column + qr_drawing.QUIET_ZONE) * module, y + (row + qr_drawing.QUIET_ZONE) * module
        pdf.rect(left, top, length * module, module * 1.02, style="F")


def _draw_cut_marks(pdf: _BadgeDocument, x: float, y: float) -> None:
    """Draw corner marks for paper that is not perforated."""
    pdf.set_draw_color(190)
    pdf.set_line_width(0.1)
    for cx, sx in ((x, 1), (x + CARD[0], -1)):
        for cy, sy in ((y, 1), (y + CARD[1], -1)):
            pdf.line(cx, cy, cx + 3 * sx, cy)
            pdf.line(cx, cy, cx, cy + 3 * sy)
