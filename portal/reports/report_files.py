"""Write a report as PDF and as workbook.

The PDF is A4 landscape, with period, completeness and page number on every page, in Noto Sans JP. The workbook's first
sheet has the subject, the figures and the completeness; then tables follow.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from fpdf.enums import TableBordersLayout, TableCellFillMode
from fpdf.fonts import FontFace

from portal.base.files.cells import CellValue
from portal.base.files.fonts import Document
from portal.base.files.workbooks import Sheet, render_parts, render_rows, write_workbook
from portal.reports.content import ReportHead, ReportTable, TableLine, bars_of, cell_text, numeric_columns

# The most lines of a table in the PDF: about 600 lines take a second. The workbook has all lines.
MAX_PDF_LINES = 5000
# The most narrow characters of a page's head, which is two lines.
_MAX_BRIEF = 320
_BAR, _LINE, _PALE, _WHITE = 150, 200, 246, 255
_MARGIN, _SIZE, _CHART_HEIGHT = 12.0, 8.0, 28.0


class _ReportPdf(Document):
    """A PDF in A4 landscape with the same head and foot on every page."""

    def __init__(self, head: ReportHead, tenant: str, made: str) -> None:
        super().__init__("A4", orientation="L", margin=_MARGIN, text_size=_SIZE)
        self._head, self._tenant, self._made = head, tenant, made
        self.set_auto_page_break(True, margin=_MARGIN + 8)
        self.set_draw_color(_LINE)
        self.set_line_width(0.1)

    def header(self) -> None:
        self.set_text_color(self.GREY)
        self.set_font_size(_SIZE)
        line = " · ".join(filter(None, [self._tenant, self._head.title, self._head.about, self._head.period]))
        self.multi_cell(0, 4.5, line, new_x="LMARGIN", new_y="NEXT")
        self.multi_cell(0, 4.5, " · ".join(_shortened(self._head.complete)), new_x="LMARGIN", new_y="NEXT")
        self.ln(2)
        self.set_text_color(self.INK)

    def footer(self) -> None:
        self.set_y(-_MARGIN)
        self.set_text_color(self.GREY)
        self.set_font_size(_SIZE)
        self.cell(0, 4, self._made)
        self.set_x(_MARGIN)
        self.cell(0, 4, f"{self.page_no()} / {{nb}}", align="R")
        self.set_text_color(self.INK)


def draw_pdf(head: ReportHead, lines: Iterable[TableLine], *, tenant: str, made: str) -> bytes:
    """Return the PDF. `made` is the text about its creation time."""
    pdf = _ReportPdf(head, tenant, made)
    pdf.set_title(f"{head.title} {head.period}")
    pdf.add_page()
    _draw_first_page(pdf, head)
    waiting = lines_by_table(lines, len(head.sheets), MAX_PDF_LINES)
    for table, (rows, left) in zip(head.sheets, waiting, strict=True):
        pdf.ln(3)
        pdf.set_font_size(11)
        pdf.cell(0, 7, table.title, new_x="LMARGIN", new_y="NEXT")
        pdf.set_font_size(_SIZE)
        if table.note:
            pdf.multi_cell(0, 5, table.note, new_x="LMARGIN", new_y="NEXT")
        if bars := bars_of(table, rows):
            _draw_bars(pdf, bars)
        _draw_table(pdf, table, rows)
        if left:
            text = ngettext("%(n)s more line is in the workbook.", "%(n)s more lines are in the workbook.", left)
            pdf.cell(0, 7, text % {"n": f"{left:,}"}, new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())


def _shortened(sentences: Sequence[str]) -> list[str]:
    """Return the completeness in two lines at most. What does not fit is counted; the first page has all of it."""
    lines: list[str] = []
    length = 0
    for sentence in sentences:
        length += _text_width(sentence)
        if lines and length > _MAX_BRIEF:
            more = len(sentences) - len(lines)
            return [*lines, _("%(n)s more: page 1.") % {"n": more}]
        lines.append(sentence)
    return lines


def _draw_first_page(pdf: _ReportPdf, head: ReportHead) -> None:
    """Draw the title and the headline figures, side by side."""
    pdf.set_font_size(16)
    pdf.multi_cell(0, 8, " ".join(filter(None, [head.title, head.about])), new_x="LMARGIN", new_y="NEXT")
    pdf.ln(1)
    width = pdf.epw / max(len(head.figures), 4)
    for texts, size, height, colour in (
        ([each.label for each in head.figures], _SIZE, 4.5, pdf.GREY),
        ([each.value for each in head.figures], 14, 7, pdf.INK),
        ([each.beside for each in head.figures], _SIZE, 4.5, pdf.GREY),
    ):
        if any(texts):
            pdf.set_font_size(size)
            pdf.set_text_color(colour)
            for text in texts:
                pdf.cell(width, height, text)
            pdf.ln(height)
    pdf.set_font_size(_SIZE)
    pdf.set_text_color(pdf.INK)
    if _shortened(head.complete) != list(head.complete):
        pdf.ln(2)
        pdf.multi_cell(0, 4.5, " · ".join(head.complete), new_x="LMARGIN", new_y="NEXT")


def _draw_bars(pdf: _ReportPdf, bars: Sequence[tuple[str, int, str]]) -> None:
    """Draw the numbers of days as bars above the days, scaled to the highest."""
    top, left, width = pdf.get_y() + 4, pdf.l_margin, pdf.epw / len(bars)
    most = max(1, *(number for _day, number, _text in bars))
    pdf.set_fill_color(_BAR)
    for place, (day, number, text) in enumerate(bars):
        height = _CHART_HEIGHT * number / most
        pdf.rect(left + width * (place + 0.2), top + _CHART_HEIGHT - height, width * 0.6, height, style="F")
        pdf.set_xy(left + width * place, top + _CHART_HEIGHT - height - 4)
        pdf.cell(width, 4, text, align="C")
        pdf.set_xy(left + width * place, top + _CHART_HEIGHT)
        pdf.cell(width, 4, day[-5:], align="C")
    pdf.set_fill_color(_WHITE)
    pdf.set_xy(left, top + _CHART_HEIGHT + 6)


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
        pdf.cell(0, 7, _("Nothing in the loaded data"), new_x="LMARGIN", new_y="NEXT")
        return
    with pdf.table(
        borders_layout=TableBordersLayout.HORIZONTAL_LINES,
        cell_fill_color=_PALE,
        cell_fill_mode=TableCellFillMode.ROWS,
        col_widths=_widths(table.columns, rows),
        text_align=["RIGHT" if number else "LEFT" for number in numeric_columns(table, rows)],
        line_height=4.5,
        padding=0.6,
        headings_style=FontFace(),  # there is no bold font
    ) as pdf_table:
        for cells in [table.columns, *rows]:
            pdf_table.row([cell_text(cell) for cell in cells])


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
        yield [figure.label, int(number) if number.isdecimal() else figure.value, figure.beside]
    for table in head.sheets:
        if table.note:
            yield [table.title, table.note]
    yield [made]
