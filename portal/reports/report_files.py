"""Write a report as PDF and as workbook.

The PDF is A4 landscape, with period, completeness and page number on every page. The workbook's first
sheet has the subject, the figures and the completeness; then tables follow.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.files.cells import CellValue
from portal.base.files.documents import Document
from portal.base.files.workbooks import Sheet, render_parts, render_rows, write_workbook
from portal.base.files.wrapping import wrap_text
from portal.reports.content import ReportHead, ReportTable, TableLine, bars_of, cell_text, numeric_columns

# The most lines of a table in the PDF: about 600 lines take a second. The workbook has all lines.
MAX_PDF_LINES = 5000
# The most narrow characters of a page's head, which is two lines.
_MAX_BRIEF = 320
_BAR, _LINE, _PALE = 150, 200, 246
_MARGIN, _SIZE, _CHART_HEIGHT = 12.0, 8.0, 28.0
_ROW_LINE, _PADDING = 4.5, 0.6
# Between neighbouring columns and labels, so that no number runs into the next.
_GAP, _LABEL_LINE = 3.0, 4.0
# A row with more lines is continued as another row, which may be on the next page.
_MAX_ROW_LINES = 25


class _ReportPdf(Document):
    """A PDF in A4 landscape with the same head and foot on every page."""

    def __init__(self, head: ReportHead, tenant: str, made: str) -> None:
        super().__init__("A4", orientation="L", margin=_MARGIN, text_size=_SIZE)
        self._head, self._tenant, self._made = head, tenant, made
        self.set_auto_page_break(True, margin=_MARGIN + 8)
        self.set_draw_color(_LINE)
        self.set_line_width(0.1)
        self.set_fill_color(_PALE)

    def header(self) -> None:
        self.set_text_color(self.GREY)
        self.write_lines(
            " · ".join(filter(None, [self._tenant, self._head.title, self._head.about, self._head.period]))
        )
        self.write_lines(" · ".join(_shortened(self._head.complete)))
        self.ln(2)
        self.set_text_color(self.INK)

    def footer(self) -> None:
        self.set_y(-_MARGIN)
        self.set_text_color(self.GREY)
        self.write_line(self._made, self.l_margin, self.epw, 4)
        self.cell(0, 4, f"{self.page_no()} / {{nb}}", align="R")
        self.set_text_color(self.INK)

    def write_lines(self, text: str, height: float = 4.5, size: float = _SIZE) -> None:
        """Write a text from margin to margin, and move below it. `height` is that of a line."""
        for line in wrap_text(text, self.epw, partial(self.width_of, size=size)):
            self.start_page_without_room(height)
            self.write_line(line, self.l_margin, self.epw, height, size, whole=text)
            self.ln(height)

    def write_line(
        self, line: str, x: float, width: float, height: float, size: float = _SIZE, align: str = "L", whole: str = ""
    ) -> None:
        """Write one line at the present height, and stay there. A line that is too wide goes on to the right."""
        free = max(width - self.width_of(line, size), 0)
        left = x + {"L": 0, "C": free / 2, "R": free}[align]
        self.draw_line(line, left, self.y + height / 2 + 0.3 * size / self.k, size, whole=whole)

    def start_page_without_room(self, height: float) -> bool:
        """Start a page if a part of this height does not fit on the present one. Return whether a page was started."""
        if self.y + height <= self.page_break_trigger:
            return False
        self.add_page()
        return True


def draw_pdf(head: ReportHead, lines: Iterable[TableLine], *, tenant: str, made: str) -> bytes:
    """Return the PDF. `made` is the text about its creation time."""
    pdf = _ReportPdf(head, tenant, made)
    pdf.set_title(f"{head.title} {head.period}")
    pdf.add_page()
    _draw_first_page(pdf, head)
    waiting = lines_by_table(lines, len(head.sheets), MAX_PDF_LINES)
    for table, (rows, left) in zip(head.sheets, waiting, strict=True):
        pdf.ln(3)
        pdf.write_lines(table.title, 7, 11)
        pdf.write_lines(table.note, 5)
        _draw_table(pdf, table, rows)
        if left:
            text = ngettext("%(n)s more line is in the Excel file.", "%(n)s more lines are in the Excel file.", left)
            pdf.write_lines(text % {"n": f"{left:,}"}, 7)
        if bars := bars_of(table, rows):
            _draw_bars(pdf, bars)
    return bytes(pdf.output())


def _shortened(sentences: Sequence[str]) -> list[str]:
    """Return the completeness in two lines at most. What does not fit is counted; the first page has all of it."""
    lines: list[str] = []
    length = 0
    for sentence in sentences:
        length += _text_width(sentence)
        if lines and length > _MAX_BRIEF:
            more = len(sentences) - len(lines)
            return [*lines, _("%(n)s more on page 1") % {"n": more}]
        lines.append(sentence)
    return lines


def _draw_first_page(pdf: _ReportPdf, head: ReportHead) -> None:
    """Draw the title and the headline figures, side by side."""
    pdf.write_lines(" ".join(filter(None, [head.title, head.about])), 8, 16)
    pdf.ln(1)
    width = pdf.epw / max(len(head.figures), 4)
    for texts, size, height, colour in (
        ([each.label for each in head.figures], _SIZE, 4.5, pdf.GREY),
        ([each.value for each in head.figures], 14, 7, pdf.INK),
        ([each.beside for each in head.figures], _SIZE, 4.5, pdf.GREY),
        ([each.begun for each in head.figures], _SIZE, 4.5, pdf.GREY),
    ):
        if any(texts):
            pdf.set_text_color(colour)
            for place, text in enumerate(texts):
                pdf.write_line(text, pdf.l_margin + place * width, width, height, size)
            pdf.ln(height)
    pdf.set_text_color(pdf.INK)
    if _shortened(head.complete) != list(head.complete):
        pdf.ln(2)
        pdf.write_lines(" · ".join(head.complete))


def _draw_bars(pdf: _ReportPdf, bars: Sequence[tuple[str, int, str]]) -> None:
    """Draw the numbers of days as bars above the days, scaled to the highest."""
    width = pdf.epw / len(bars)
    measure = partial(pdf.width_of, size=_SIZE)
    labels = [list(wrap_text(text, width - _GAP, measure)) for _day, _number, text in bars]
    above = _LABEL_LINE * max(map(len, labels))
    pdf.ln(3)
    pdf.start_page_without_room(_CHART_HEIGHT + above + 6)
    top = pdf.get_y() + above
    most = max(1, *(number for _day, number, _text in bars))
    pdf.set_fill_color(_BAR)
    for place, (day, number, _text) in enumerate(bars):
        height, left = _CHART_HEIGHT * number / most, pdf.l_margin + width * place
        pdf.rect(left + width * 0.2, top + _CHART_HEIGHT - height, width * 0.6, height, style="F")
        for line, label in enumerate(reversed(labels[place]), 1):
            pdf.set_y(top + _CHART_HEIGHT - height - _LABEL_LINE * line)
            pdf.write_line(label, left, width, _LABEL_LINE, align="C")
        pdf.set_y(top + _CHART_HEIGHT)
        pdf.write_line(day[-5:], left, width, 4, align="C")
    pdf.set_fill_color(_PALE)
    pdf.set_y(top + _CHART_HEIGHT + 6)


def lines_by_table(lines: Iterable[TableLine], sheets: int, limit: int) -> list[tuple[list[Sequence[CellValue]], int]]:
    """Return the lines to draw for each table, and how many are left out."""
    drawn: list[list[Sequence[CellValue]]] = [[] for _number in range(sheets)]
    left = [0] * sheets
    for number, cells in lines:
        if len(drawn[number]) < limit:
            drawn[number].append(cells)
        else:
            left[number] += 1
    return list(zip(drawn, left, strict=True))


def _draw_table(pdf: _ReportPdf, table: ReportTable, rows: Sequence[Sequence[CellValue]]) -> None:
    if not rows:
        pdf.write_lines(_("Nothing in the loaded data"), 7)
        return
    shares = _widths(table.columns, rows)
    widths = [pdf.epw * share / sum(shares) for share in shares]
    measure = partial(pdf.width_of, size=_SIZE)
    aligned = ["R" if number else "L" for number in numeric_columns(table, rows)]
    heading, *others = (
        [list(wrap_text(cell_text(cell), width - _GAP, measure)) for cell, width in zip(cells, widths, strict=True)]
        for cells in [table.columns, *rows]
    )
    _draw_row(pdf, heading, widths, aligned, is_filled=False)
    for number, cells in enumerate(others):
        for begin in range(0, max(1, *map(len, cells)), _MAX_ROW_LINES):
            part = [lines[begin : begin + _MAX_ROW_LINES] for lines in cells]
            if pdf.start_page_without_room(_row_height(part)):
                _draw_row(pdf, heading, widths, aligned, is_filled=False)
            _draw_row(pdf, part, widths, aligned, is_filled=number % 2 == 0)


def _row_height(cells: Sequence[Sequence[str]]) -> float:
    return max(1, *map(len, cells)) * _ROW_LINE + 2 * _PADDING


def _draw_row(
    pdf: _ReportPdf, cells: Sequence[Sequence[str]], widths: Sequence[float], aligned: Sequence[str], *, is_filled: bool
) -> None:
    """Draw a row of cells, each of which has one or more lines, with a line below it."""
    top, left, height = pdf.get_y(), pdf.l_margin, _row_height(cells)
    if is_filled:
        pdf.rect(left, top, pdf.epw, height, style="F")
    for lines, width, align in zip(cells, widths, aligned, strict=True):
        for number, line in enumerate(lines):
            pdf.set_y(top + _PADDING + number * _ROW_LINE)
            pdf.write_line(line, left + _GAP / 2, width - _GAP, _ROW_LINE, align=align, whole=" ".join(lines))
        left += width
    pdf.line(pdf.l_margin, top + height, left, top + height)
    pdf.set_y(top + height)


def _widths(columns: Sequence[str], rows: Sequence[Sequence[CellValue]]) -> list[int]:
    """Return the relative widths of the columns, by the longest of the first lines. Wide characters count twice."""
    some = [columns, *rows[:200]]
    found = [max(_text_width(str(cells[place])) for cells in some) for place in range(len(columns))]
    return [min(max(each, 6), 45) for each in found]


def _text_width(text: str) -> int:
    return sum(2 if character > "\u2e7f" else 1 for character in text)


def write_report_workbook(head: ReportHead, lines: Iterable[TableLine], *, tenant: str, made: str) -> Iterator[bytes]:
    """Yield the workbook in pieces. The lines are in the order of the tables."""
    described = Sheet(_("About"), (), [render_rows(_about_rows(head, tenant, made))])
    return write_workbook(itertools.chain([described], _sheets(head, lines)))


def _sheets(head: ReportHead, lines: Iterable[TableLine]) -> Iterator[Sheet]:
    """Yield the sheet of each table. Its lines are read when it is written, before the next one."""
    groups = itertools.groupby(lines, key=itemgetter(0))
    number, some = next(groups, (None, iter(())))
    for place, table in enumerate(head.sheets):
        is_filled = place == number
        yield Sheet(table.title, table.columns, render_parts(cells for _number, cells in some) if is_filled else ())
        if is_filled:
            number, some = next(groups, (None, iter(())))
    if number is not None:
        raise ValueError(f"The lines of table {number} are not in order.")


def _about_rows(head: ReportHead, tenant: str, made: str) -> Iterator[list[CellValue]]:
    yield [tenant]
    yield [head.title, head.about]
    yield [head.period]
    for sentence in head.complete:
        yield [sentence]
    for figure in head.figures:
        number = figure.value.replace(",", "")
        yield [figure.label, int(number) if number.isdecimal() else figure.value, figure.beside, figure.begun]
    for table in head.sheets:
        if table.note:
            yield [table.title, table.note]
    yield [made]
