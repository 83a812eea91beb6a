"""Any text that the service accepts as a code is drawn so that a reader returns it unchanged."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accessapi.limits import GUEST_QRCODE_MAX
from portal.base.files.wrapping import fit_text, wrap_text
from portal.base.ui import qr_drawing
from portal.members import qr_codes
from tests.support.codes import read_png, read_svg
from tests.support.effort import examples

# Readers return text, so code points that are no characters (surrogates, noncharacters, controls) are not compared.
_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), min_size=1, max_size=60)
_KINDS = (
    "0123456789",
    "ABCXYZ $%*+-./:0123456789",
    "abcdefghijklmnopqrstuvwxyz0123456789-_=",
    "漢字仮名来訪者受付鍵扉区画入館",
    "かなカナ漢字ｶﾅ〜～−－①髙﨑",
    "éßñøåäö",
    "😀🏢🔑",
)


@settings(max_examples=examples(300, quick=40))
@given(data=_TEXT)
def test_any_text_is_read_back(data):
    assert read_svg(qr_drawing.draw_svg(qr_drawing.build_code(data), "x")) == [data]


@pytest.mark.parametrize("data", ["÷", "×", "××", "§", "°÷±×´¨¶", "é", "ｶﾅ", "～", "\\", "~"])
def test_what_several_alphabets_know_is_read_back_wherever_a_code_is_drawn(data):
    """Check characters that encodings read differently: × and ÷, half-width kana, ～ and \\."""
    code = qr_drawing.build_code(data)
    assert read_svg(qr_drawing.draw_svg(code, "x")) == read_svg(qr_drawing.draw_svg_file(code).decode()) == [data]
    assert read_png(qr_drawing.draw_png_file(code)) == [data]
    assert read_svg(qr_codes.draw_qr(data, "x")) == [data], "a member's, a one-time code"


@settings(max_examples=examples(200, quick=12))
@given(alphabet=st.sampled_from(_KINDS), size=st.integers(GUEST_QRCODE_MAX - 60, GUEST_QRCODE_MAX), salt=st.randoms())
def test_the_longest_data_is_read_back(alphabet, size, salt):
    data = "".join(salt.choice(alphabet) for _ in range(size))
    assert read_svg(qr_drawing.draw_svg(qr_drawing.build_code(data), "x"), module=3) == [data]


@pytest.mark.parametrize("alphabet", _KINDS)
def test_at_the_very_limit_both_files_are_read_back(alphabet):
    data = (alphabet * GUEST_QRCODE_MAX)[:GUEST_QRCODE_MAX]
    code = qr_drawing.build_code(data)
    assert read_png(qr_drawing.draw_png_file(code)) == [data]
    assert read_svg(qr_drawing.draw_svg_file(code).decode()) == [data]


def test_a_short_code_is_large_and_sturdy_and_a_long_one_as_coarse_as_can_be():
    short, long = qr_drawing.build_code("3f1c2a7be0954d8c"), qr_drawing.build_code("漢" * GUEST_QRCODE_MAX)
    assert short.error in ("M", "Q", "H")
    assert qr_drawing.code_width(short) <= 37
    assert long.error == "L"
    assert qr_drawing.code_width(long) <= 109  # as UTF-8 it would take 145


def test_the_quiet_zone_is_white_on_every_side():
    code = qr_drawing.build_code("abc")
    at = [
        (row + qr_drawing.QUIET_ZONE, column + qr_drawing.QUIET_ZONE, length)
        for row, column, length in qr_drawing.dark_runs(code)
    ]
    last = qr_drawing.code_width(code) - qr_drawing.QUIET_ZONE
    assert min(row for row, _c, _n in at) == min(column for _r, column, _n in at) == qr_drawing.QUIET_ZONE
    assert max(row for row, _c, _n in at) < last
    assert max(column + length for _r, column, length in at) == last


@pytest.mark.parametrize("data", ["", "\ud800", "漢" * 2000, "x" * 5000])
def test_what_cannot_be_drawn_says_so_without_repeating_it(data):
    with pytest.raises(qr_drawing.NotDrawable) as refusal:
        qr_drawing.build_code(data)
    assert data[:3] not in str(refusal.value) or not data


def test_the_picture_needs_no_style_and_no_script():
    text = qr_drawing.draw_svg(qr_drawing.build_code("abc"), 'a "quoted" <name>')
    assert "style=" not in text
    assert "<script" not in text
    assert "<name>" not in text


def test_long_names_shrink_and_wrap_and_lose_nothing():
    def measure(piece, size):
        return sum(0.35 if ord(c) > 255 else 0.18 for c in piece) * size

    name = "寿限無寿限無五劫の擦り切れ海砂利水魚の水行末雲来末風来末食う寝る処に住む処やぶら小路"
    placed = fit_text(name, 40, 20, (24, 8), measure)
    assert "".join(placed.lines) == name
    assert placed.size < 24
    assert placed.height <= 20
    latin = fit_text("Bartholomew Featherstonehaugh-Cholmondeley", 40, 20, (24, 8), measure)
    assert latin.lines == ["Bartholomew", "Featherstonehaugh-", "Cholmondeley"]
    assert list(wrap_text("x" * 30, 5, lambda piece: len(piece))) == ["xxxxx"] * 6
    assert fit_text("田中", 40, 20, (24, 8), measure).size == 24
