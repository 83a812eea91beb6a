"""A manager reads a report as PDF: every text is on it, on as many pages as needed, and boxes are announced."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone
from pypdfium2 import PdfDocument

from portal.domain.visits.models import Visit
from portal.reports import report_files
from portal.reports.content import ReportFigure, ReportHead, ReportTable
from tests.support.reports import ReportsDesk
from tests.support.scripts import HARD_NAMES, NAMES

ALL = [*NAMES, *HARD_NAMES]
# The height of a page's foot, in points.
FOOT = 20 / 25.4 * 72


@pytest.fixture
def desk(place):
    return ReportsDesk(place)


def drawn(sheets, lines, *, below=None, **head):
    """Return the text of each page, or only of its part that ends at a height."""
    head = ReportHead("Title", "", "2026-11", sheets=sheets, **head)
    with PdfDocument(report_files.draw_pdf(head, lines, tenant="T", made="")) as document:
        return [page.get_textpage().get_text_bounded(top=below) for page in document]


def letters(*texts):
    return Counter("".join("".join(texts).split()))


def test_every_text_of_a_report_is_on_its_pdf(desk):
    rows = [[name, name, number] for number, name in enumerate(ALL)]
    sheet = ReportTable(ALL[0], ["Name", ALL[1], "Number"], note=ALL[2])
    figures = [ReportFigure(ALL[3], "7", ALL[4])]
    pages = drawn([sheet], [(0, row) for row in rows], figures=figures, complete=[ALL[5]])
    once = ["Title", ALL[3], "7", ALL[4], sheet.title, sheet.note, *(str(cell) for row in rows for cell in row)]
    on_every_page = ["T · Title · 2026-11", ALL[5], *sheet.columns]
    numbers = [f"{number} / {len(pages)}" for number in range(1, len(pages) + 1)]
    assert letters(*pages) == letters(*once, *on_every_page * len(pages), *numbers)


def test_a_row_is_on_one_page_and_the_headings_are_on_every_page(desk):
    rows = [(0, [f"Guest {number};", "wide word " * 120]) for number in range(20)]
    sheets = [ReportTable("Guests", ["Name", "Note"])]
    pages = drawn(sheets, rows)
    assert len(pages) > 2
    for number, page in enumerate(pages, start=1):
        assert "Name Note" in page
        assert page.count("wide") == 120 * page.count("Guest ")
        assert drawn(sheets, rows, below=FOOT)[number - 1].strip() == f"{number} / {len(pages)}"


def test_a_text_that_is_longer_than_a_page_is_continued(desk):
    pages = drawn([ReportTable("Guests", ["Note", *"ABCDEFG"])], [(0, [" ".join(map(str, range(900))), *"abcdefg"])])
    assert len(pages) > 1
    assert set(map(str, range(900))) <= set(" ".join(pages).split())


def test_the_page_of_a_report_names_what_its_pdf_cannot_show(desk):
    now = timezone.now()
    dates = {"use_date_start": now - timedelta(days=3), "use_date_end": now - timedelta(days=2)}
    with desk.scope():
        for number, name in enumerate(["王芳", "Bela 𒀀"]):
            Visit.objects.create(guest_id=f"g-{number}", guest_name=name, **dates)
    report = desk.ask("guests")
    assert "Some characters cannot be printed: 𒀀." in desk.page(report)
    with PdfDocument(desk.file(report, "pdf")) as document:
        text = "".join(page.get_textpage().get_text_range() for page in document)
    assert "王芳" in text
    assert "Bela 𒀀" in text
