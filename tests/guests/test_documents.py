"""The text of a PDF, read from the file, is the text that was drawn, in any script; and what no font has is seen."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from pypdfium2 import PdfDocument

from portal.base.files.documents import Document
from portal.base.files.faces import unprintable
from tests.support.scripts import HARD_NAMES, NAMES


def drawn(text):
    pdf = Document("A4", text_size=10)
    pdf.add_page()
    pdf.draw_line(text, 20, 40, 20)
    return bytes(pdf.output())


def read(content):
    with PdfDocument(content) as document:
        text = document[0].get_textpage()
        assert text.get_text_bounded() == text.get_text_range(), "no character is without a place on the page"
        return text.get_text_range()


def ink(content):
    """Return how many pixels of the first page are dark."""
    with PdfDocument(content) as document:
        return sum(document[0].render(scale=2).to_pil().convert("L").histogram()[:128])


@pytest.mark.parametrize("name", [*NAMES, *HARD_NAMES])
def test_a_name_is_read_as_it_was_written(name):
    assert read(drawn(name)) == name
    assert unprintable([name]) == []


@pytest.mark.parametrize("name", ["דוד (לוי)", "«שרה» [א]", "محمّد الأمين"])
def test_brackets_and_marks_are_read_in_text_from_right_to_left(name):
    assert read(drawn(name)) == name


def test_text_in_both_directions_keeps_all_its_words():
    assert sorted(read(drawn("Host: שרה לוי, Tel Aviv")).replace(",", "").split()) == sorted(
        ["Host:", "שרה", "לוי", "Tel", "Aviv"]
    )


@pytest.mark.parametrize("text", ["𒀀", "\ue123", "\U0001fbff"])
def test_a_character_that_no_font_has_is_a_box_and_is_named(text):
    content = drawn(f"a{text}b")
    assert read(content) == f"a{text}b"
    assert ink(content) > ink(drawn("ab")) + 50
    assert unprintable(["ab", f"a{text}b{text}"]) == [text]


def test_shapes_change_with_their_neighbours():
    assert ink(drawn("ععع")) != 3 * ink(drawn("ع")), "Arabic letters are joined"
    assert Document("A4", text_size=10).width_of("क्ष", 20) < 2 * Document("A4", text_size=10).width_of("क", 20)


def test_threads_draw_at_once_what_they_draw_alone():
    with ThreadPoolExecutor(8) as threads:
        at_once = list(threads.map(read, threads.map(drawn, [*NAMES] * 2)))
    assert at_once == [*NAMES] * 2
