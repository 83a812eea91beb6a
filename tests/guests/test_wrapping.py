"""Lines break only where the script allows, and no character is lost or parted from its marks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.base.files.wrapping import clusters, wrap_text
from tests.support.effort import examples


def wrapped(text, width):
    return list(wrap_text(text, width, len))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Phạm Thị Bích Ngọc", ["Phạm Thị", "Bích Ngọc"]),
        ("Анастасия Рождественская", ["Анастасия", "Рождественская"]),
        ("Κωνσταντίνα Οικονόμου", ["Κωνσταντίνα", "Οικονόμου"]),
        ("Zdeněk Březina-Šťastný", ["Zdeněk", "Březina-", "Šťastný"]),
        ("عبد الرحمن الحسيني", ["عبد الرحمن", "الحسيني"]),
        ("박서연 최지훈 정하은", ["박서연 최지훈", "정하은"]),
        ("राजेश्वरी विश्वनाथन", ["राजेश्वरी", "विश्वनाथन"]),
    ],
)
def test_a_line_ends_between_words_in_every_alphabet(text, lines):
    assert wrapped(text, max(map(len, lines))) == lines


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("ミーティング、受付「東」", 6, ["ミーティン", "グ、受付", "「東」"]),
        ("株式会社「みらい」", 5, ["株式会社", "「みらい」"]),
        ("李小龙，王芳", 3, ["李小", "龙，王", "芳"]),
        ("東京Tower", 5, ["東京", "Tower"]),
    ],
)
def test_chinese_and_japanese_break_anywhere_but_not_before_or_after_some_marks(text, width, lines):
    assert wrapped(text, width) == lines


def test_only_a_word_that_is_wider_than_the_line_is_broken():
    assert wrapped("Преображенская Анна", 8) == ["Преображ", "енская", "Анна"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Jose\u0301", ["J", "o", "s", "e\u0301"]),
        ("เกศินี", ["เก", "ศิ", "นี"]),
        ("น้ำใจ", ["น้ำ", "ใจ"]),
        ("क्षत्रिय", ["क्ष", "त्रि", "य"]),
        ("葛\U000e0100飾", ["葛\U000e0100", "飾"]),
        ("👩‍🔬🇯🇵🇫🇷👍🏽", ["👩‍🔬", "🇯🇵", "🇫🇷", "👍🏽"]),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", ["\u1112\u1161\u11ab", "\u1100\u1173\u11af"]),
    ],
)
def test_a_letter_stays_with_its_marks(text, found):
    assert list(clusters(text)) == found


@settings(max_examples=examples(300, quick=60))
@given(text=st.text(max_size=60), width=st.integers(1, 20))
def test_no_text_loses_a_character(text, width):
    lines = wrapped(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(len(line) <= width or len(list(clusters(line))) == 1 for line in lines)
