"""Documents share only the parsed font; on paper they look as fpdf2 alone creates them."""

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from fontTools.ttLib import TTFont
from fpdf import FPDF
from pypdfium2 import PdfDocument

from portal.base.files import fonts
from portal.base.files.documents import Document
from portal.base.files.faces import main_face

TEXTS = ["田中 愛子 2026-07-01", "Gäste: 髙﨑 ｶﾅ", "来訪者は受付へ", "8 doors – ①②③", "two pages\n" * 50]
_KANJI = "".join(letter for letter in map(chr, range(0x4E00, 0x9FA0)) if letter.encode("shift_jis", "ignore"))
TEXTS += [_KANJI[:80], _KANJI[80:160], _KANJI[160:240]]


PATH = main_face().path
FAMILY = PATH.stem


def begun(pdf=None):
    pdf = pdf or Document("A4", text_size=12)
    pdf.set_creation_date(datetime(2026, 7, 1, tzinfo=UTC))
    pdf.set_font(FAMILY, size=12)
    pdf.add_page()
    return pdf


def drawn(text, pdf=None):
    pdf = pdf or begun()
    pdf.multi_cell(0, 6, text)
    return bytes(pdf.output())


def alone(text):
    """Return the PDF of fpdf2 without our changes."""
    pdf = FPDF()
    pdf.add_font(FAMILY, fname=PATH)
    pdf.set_margin(0)
    return drawn(text, begun(pdf))


def pages(content):
    """Return the text and the pixels of each page."""
    with PdfDocument(content) as document:
        return [
            (page.get_textpage().get_text_bounded(), page.render(scale=3).to_pil().convert("L").tobytes())
            for page in document
        ]


@pytest.fixture
def turns():
    """Make threads switch as often as possible, with a font that is not parsed yet."""
    for cache in (fonts._read_font, fonts._base_font, fonts._glyph):
        cache.cache_clear()
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    with ThreadPoolExecutor(len(TEXTS)) as threads:
        yield threads
    sys.setswitchinterval(usual)


def test_a_document_is_drawn_as_fpdf2_draws_it_alone():
    some = sorted(begun().fonts[FAMILY.lower()].cmap)[::200]  # of every group of glyphs
    text = "".join(map(chr, some)) + "𠮷野 😀 \u200d"
    assert pages(drawn(text)) == pages(alone(text))
    assert drawn(text)[:8] == alone(text)[:8], "the version"


def test_a_glyph_stays_in_its_group():
    names = sorted(set(begun().fonts[FAMILY.lower()].cmap.values()))[::200]
    with TTFont(PATH) as whole, fonts._subset_font(PATH, names) as part:
        assert [_group(part, name) for name in names] == [_group(whole, name) for name in names]


def _group(font, name):
    glyphs = font["CFF "].cff[0]
    _glyph, group = glyphs.CharStrings.getItemAndSelector(name)
    return glyphs.FDArray[group].FontName


def test_documents_that_are_drawn_in_turns_show_their_own_text():
    one_by_one = [drawn(text) for text in TEXTS]
    for text, content in zip(TEXTS, one_by_one, strict=True):
        assert {*"".join(words for words, _pixels in pages(content))} - {*"\r\n"} == {*text} - {"\n"}
    all_begun = [begun() for _text in TEXTS]
    for pdf, text in zip(all_begun, TEXTS, strict=True):
        pdf.multi_cell(0, 6, text)
    assert [bytes(pdf.output()) for pdf in reversed(all_begun)] == one_by_one[::-1]


def test_documents_that_threads_draw_at_once_show_their_own_text(turns):
    at_once = list(turns.map(drawn, TEXTS * 2))
    assert at_once == [drawn(text) for text in TEXTS] * 2
