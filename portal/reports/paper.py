"""A report as PDF: A4 across, with its period, completeness and number on every page; Noto Sans JP embedded."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from fpdf import FPDF
from fpdf.enums import TableBordersLayout, TableCellFillMode
from fpdf.fonts import FontFace

from portal.core.files import fonts
from portal.reports.content import Cell, Head, Line, amount

#: The most lines of a table on paper: a second is about 600 of them. The workbook has them all.
MOST_LINES = 5000
# Of a page's head, narrow characters: two lines across.
_BRIEF = 320
#: The most lines that are drawn as bars: more would stand too close to be read.
MOST_BARS = 31
_INK, _GREY, _BAR, _LINE, _PALE, _WHITE = 20, 95, 150, 200, 246, 255
_MARGIN, _SIZE, _HIGH = 12.0, 8.0, 28.0


class _Paper(FPDF):
    """A4 across with the same head and foot on every page."""

    def __init__(self, head: Head, tenant: str, made: str) -> None:
        super().__init__(orientation="L", unit="mm", format="A4")
        self._head, self._tenant, self._made = head, tenant, made
        self.set_margin(_MARGIN)
        self.set_auto_page_break(True, margin=_MARGIN + 8)
        fonts.add_font(self)
        self.set_font(fonts.NAME, size=_SIZE)
        self.set_draw_color(_LINE)
        self.set_line_width(0.1)

    def header(self) -> None:
        self.set_text_color(_GREY)
        self.set_font(fonts.NAME, size=_SIZE)
        told = " · ".join(filter(None, [self._tenant, self._head.title, self._head.about, self._head.period]))
        self.multi_cell(0, 4.5, told, new_x="LMARGIN", new_y="NEXT")
        self.multi_cell(0, 4.5, " · ".join(_brief(self._head.complete)), new_x="LMARGIN", new_y="NEXT")
        self.ln(2)
        self.set_text_color(_INK)

    def footer(self) -> None:
        self.set_y(-_MARGIN)
        self.set_text_color(_GREY)
        self.set_font(fonts.NAME, size=_SIZE)
        self.cell(0, 4, self._made)
        self.set_x(_MARGIN)
        self.cell(0, 4, f"{self.page_no()} / {{nb}}", align="R")
        self.set_text_color(_INK)


def draw(head: Head, lines: Iterable[Line], *, tenant: str, made: str) -> bytes:
    """Return the PDF. `made` says when it was made."""
    pdf = _Paper(head, tenant, made)
    pdf.set_title(f"{head.title} {head.period}")
    pdf.add_page()
    _first(pdf, head)
    waiting = by_sheet(lines, len(head.sheets), MOST_LINES)
    for sheet, (rows, left) in zip(head.sheets, waiting, strict=True):
        pdf.ln(3)
        pdf.set_font(fonts.NAME, size=11)
        pdf.cell(0, 7, sheet.title, new_x="LMARGIN", new_y="NEXT")
        pdf.set_font(fonts.NAME, size=_SIZE)
        if sheet.note:
            pdf.multi_cell(0, 5, sheet.note, new_x="LMARGIN", new_y="NEXT")
        if sheet.drawn and 0 < len(rows) <= MOST_BARS:
            _bars(pdf, [(str(cells[0]), cells[sheet.drawn]) for cells in rows])
        _table(pdf, sheet.columns, rows)
        if left:
            said = ngettext("%(n)s more line is in the workbook.", "%(n)s more lines are in the workbook.", left)
            pdf.cell(0, 7, said % {"n": f"{left:,}"}, new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())


def _brief(sentences: Sequence[str]) -> list[str]:
    """Return how complete the data is in two lines at the most: what does not fit is counted, and on the first page."""
    told: list[str] = []
    length = 0
    for sentence in sentences:
        length += _wide(sentence)
        if told and length > _BRIEF:
            more = len(sentences) - len(told)
            return [*told, _("%(n)s more: page 1.") % {"n": more}]
        told.append(sentence)
    return told


def _first(pdf: _Paper, head: Head) -> None:
    """Draw the title and the headline figures, side by side."""
    pdf.set_font(fonts.NAME, size=16)
    pdf.multi_cell(0, 8, " ".join(filter(None, [head.title, head.about])), new_x="LMARGIN", new_y="NEXT")
    pdf.ln(1)
    width = pdf.epw / max(len(head.figures), 4)
    for texts, size, height, colour in (
        ([each.label for each in head.figures], _SIZE, 4.5, _GREY),
        ([each.value for each in head.figures], 14, 7, _INK),
        ([each.beside for each in head.figures], _SIZE, 4.5, _GREY),
    ):
        if any(texts):
            pdf.set_font(fonts.NAME, size=size)
            pdf.set_text_color(colour)
            for text in texts:
                pdf.cell(width, height, text)
            pdf.ln(height)
    pdf.set_font(fonts.NAME, size=_SIZE)
    pdf.set_text_color(_INK)
    if _brief(head.complete) != list(head.complete):
        pdf.ln(2)
        pdf.multi_cell(0, 4.5, " · ".join(head.complete), new_x="LMARGIN", new_y="NEXT")


def _bars(pdf: _Paper, drawn: Sequence[tuple[str, Cell]]) -> None:
    """Draw the numbers of days as bars over the days, the highest as high as there is room; say those not known."""
    amounts = [amount(cell) or 0 for _day, cell in drawn]
    top, left, width, most = pdf.get_y() + 4, pdf.l_margin, pdf.epw / len(drawn), max([*amounts, 1])
    pdf.set_fill_color(_BAR)
    for place, ((day, cell), number) in enumerate(zip(drawn, amounts, strict=True)):
        height = _HIGH * number / most
        pdf.rect(left + width * (place + 0.2), top + _HIGH - height, width * 0.6, height, style="F")
        pdf.set_xy(left + width * place, top + _HIGH - height - 4)
        pdf.cell(width, 4, _shown(cell), align="C")
        pdf.set_xy(left + width * place, top + _HIGH)
        pdf.cell(width, 4, day[-5:], align="C")
    pdf.set_fill_color(_WHITE)
    pdf.set_xy(left, top + _HIGH + 6)


def _shown(cell: Cell) -> str:
    return f"{cell:,}" if isinstance(cell, int) else cell


def by_sheet(lines: Iterable[Line], sheets: int, most: int) -> list[tuple[list[Sequence[Cell]], int]]:
    """Return of each table the lines that are drawn, and how many are left out."""
    drawn: list[list[Sequence[Cell]]] = [[] for _number in range(sheets)]
    left = [0] * sheets
    for number, cells in lines:
        if len(drawn[number]) < most:
            drawn[number].append(cells)
        else:
            left[number] += 1
    return list(zip(drawn, left, strict=True))


def _table(pdf: _Paper, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    if not rows:
        pdf.cell(0, 7, _("Nothing in the loaded data"), new_x="LMARGIN", new_y="NEXT")
        return
    numbers = numeric(len(columns), rows)
    with pdf.table(
        borders_layout=TableBordersLayout.HORIZONTAL_LINES,
        cell_fill_color=_PALE,
        cell_fill_mode=TableCellFillMode.ROWS,
        col_widths=_widths(columns, rows),
        text_align=["RIGHT" if number else "LEFT" for number in numbers],
        line_height=4.5,
        padding=0.6,
        headings_style=FontFace(),  # there is no bold font
    ) as table:
        for cells in [columns, *rows]:
            table.row([_shown(cell) for cell in cells])


def numeric(columns: int, rows: Sequence[Sequence[Cell]]) -> list[bool]:
    """Return of each column whether there are numbers in it, if only in some lines."""
    return [any(isinstance(row[place], int) for row in rows) for place in range(columns)]


def _widths(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[int]:
    """Return the columns' shares of the width, by the longest of the first lines; wide characters count twice."""
    some = [columns, *rows[:200]]
    found = [max(_wide(str(cells[place])) for cells in some) for place in range(len(columns))]
    return [min(max(each, 6), 45) for each in found]


def _wide(text: str) -> int:
    return sum(2 if character > "\u2e7f" else 1 for character in text)
