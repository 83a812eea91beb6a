"""Texts on screens, in mails and on paper are short, plain, and punctuated as the reader's language has it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest
from babel.messages.pofile import read_po

from stack.paths import ROOT
from tests.guards.test_words import TURNS
from tests.support.sources import sources

#: Words for which people use others, besides those that no text of the project has.
ON_SCREENS = (
    "as before", "(?:take|give|given|taken) back", "makes? (?:a|an|the)? ?(?:report|export)s?", "not known where",
    "trickle", "mirror(?:ed)?", "intents?", "lease", "carrier", "(?:was|were) believed",
)  # fmt: skip
FORBIDDEN = re.compile(rf"\b(?:{'|'.join((*TURNS, *ON_SCREENS))})\b", re.IGNORECASE)
LONGEST = 20  # words in a sentence
CHARACTER = "[぀-ヿ㐀-鿿々]"
#: Half-width punctuation beside Japanese; a comma in a file's content is in quotes.
HALF_WIDTH = re.compile(rf"{CHARACTER}[,:;!?()]|[,;!?()]{CHARACTER}|{CHARACTER}\.(?:\s|$)")
VALUE = r"%\(\w+\)[sd]|\{\w+\}"
#: Texts in quotes, headers, and the format of a filter are for programs.
QUOTED = re.compile(r"“[^”]*”|「[^」]*」|<[^>]+>|X-[\w-]+: \S+|^はい,いいえ$")
#: Attributes that a person reads or hears; all others are for programs.
READ_ALOUD = r"(?:aria-label|title|alt|placeholder)"
PUNCTUATION = re.compile(r"\}\}\s?(?:[;,()]|:(?!00))|[:;,(]\s?\{\{|\|join:\"(?! · \")")


#: What is counted in the plural of a message: "%(n)s doors" counts "doors".
COUNTED = re.compile(rf"(?:{VALUE}) (?:[a-z-]+ )?([a-z]+s)\b")
#: A number after these is a limit, which is never one, or a bound that is set in a rule.
LIMIT = r"(?<![Aa]t most )(?<!at least )(?<![Uu]p to )(?<!more than )(?<!over )(?<!within )(?<!first )(?<!limit is )"
#: Messages whose number is at least two, or one of a few that the portal offers.
NEVER_ONE = (
    "%(n)d groups have this name", "%(n)d members have this code", "Load %(n)s days", "%(n)d days",
    "Support session started for %(minutes)d minutes", "Recordings are kept for",
    "%(subject)s: refused %(n)s times", "Not saved: the note is too long", "Test not sent",
)  # fmt: skip
#: Counters that a number in Japanese has directly after it.
COUNTERS = "[名件か所本台回分時間日行秒人枚ペ週月年組項文個通テバミ]"


@dataclass(frozen=True)
class Text:
    """A message in both languages, with the place that has it first. A message with a number has two in English."""

    place: str
    english: tuple[str, ...]
    japanese: tuple[str, ...]


@cache
def texts() -> list[Text]:
    with (ROOT / "locale/ja/LC_MESSAGES/django.po").open("rb") as file:
        catalogue = read_po(file, locale="ja")
    return [
        Text(each.locations[0][0] if each.locations else "", _all(each.id), _all(each.string))
        for each in catalogue
        if each.id
    ]


def _all(text: object) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(map(str, text or ()))  # type: ignore[arg-type] # plural forms


def sentences(text: str) -> Iterator[str]:
    plain = re.sub(VALUE, "X", re.sub(r"<[^>]+>", " ", text))
    yield from re.split(r"(?<=[.!?:;])\s+|\n", plain)


def visible(template: str) -> str:
    """Return what people read of a template: texts and labels, without messages, tags and other attributes."""
    for pattern in (r"\{% ?comment.*?endcomment ?%\}", r"\{% blocktranslate.*?endblocktranslate %\}", r"\{%.*?%\}"):
        template = re.sub(pattern, " ", template, flags=re.S)
    labels = re.findall(rf'{READ_ALOUD}="([^"]*)"', template)
    return "\n".join((re.sub(r"<[^<>]*>", "<>", template), *labels))


def test_no_message_has_a_turn_that_a_reader_must_decode():
    assert [(each.place, text) for each in texts() for text in each.english if FORBIDDEN.search(text)] == []


def test_no_sentence_has_more_than_twenty_words():
    long = [
        (each.place, sentence)
        for each in texts()
        for text in each.english
        for sentence in sentences(text)
        if len(sentence.split()) > LONGEST
    ]
    assert long == []


def test_japanese_has_full_width_punctuation_and_addresses_no_one_as_anata():
    wrong = [
        (each.place, text)
        for each in texts()
        for text in each.japanese
        if "あなた" in text or HALF_WIDTH.search(QUOTED.sub("", re.sub(VALUE, "X", text)))
    ]
    assert wrong == []


def counted_once(messages: list[Text]) -> list[tuple[str, str]]:
    """Return messages that count something without a singular."""
    plurals = [each.english for each in messages if len(each.english) > 1]
    nouns = {noun for one, many in plurals for noun in COUNTED.findall(many) if re.search(rf"\b{noun[:-1]}\b", one)}
    number = re.compile(rf"{LIMIT}(?:{VALUE}) (?:{'|'.join(sorted(nouns))})\b")
    return [
        (each.place, each.english[0])
        for each in messages
        if len(each.english) == 1 and number.search(each.english[0]) and not each.english[0].startswith(NEVER_ONE)
    ]


def without_counter(messages: list[Text]) -> list[tuple[str, str]]:
    """Return Japanese messages with a number that has no counter after it, or that is full-width."""
    return [
        (each.place, text)
        for each in messages
        for text in each.japanese
        if re.search("[０-９]", text)
        or (len(each.english) > 1 and not re.search(rf"(?:{VALUE}){COUNTERS}|[一1]{COUNTERS}", text))
    ]


def test_a_number_and_what_it_counts_are_one_message_with_a_singular():
    assert counted_once(texts()) == [], "use ngettext or count, or name the limit"


def test_japanese_numbers_are_half_width_and_have_a_counter():
    assert without_counter(texts()) == []


def test_messages_that_leave_a_number_alone_are_found():
    doors = Text("", ("%(n)s door", "%(n)s doors"), ("扉%(n)sか所",))
    assert counted_once([doors, Text("", ("All %(n)s doors",), ("",))]) == [("", "All %(n)s doors")]
    assert counted_once([doors, Text("", ("Up to %(n)s doors",), ("",))]) == []
    assert without_counter([doors, Text("", ("%(n)s door", "%(n)s doors"), ("扉%(n)s",))]) == [("", "扉%(n)s")]
    assert without_counter([Text("", ("Two",), ("２か所",))]) == [("", "２か所")]


def test_templates_put_no_punctuation_beside_values():
    wrong = [
        (each.name, line.strip())
        for each in sources("templates", suffix=".html")
        for line in visible(each.text).splitlines()
        if PUNCTUATION.search(line)
    ]
    assert wrong == [], "use the filters listed, bracketed and labelled, or one message"


@pytest.mark.parametrize(
    ("text", "is_found"),
    [("Nobody knows", True), ("Make report", True), ("Take it back", False), ("Unknown", False)],
)
def test_a_forbidden_turn_is_found(text, is_found):
    assert bool(FORBIDDEN.search(text)) is is_found


def test_punctuation_is_found_in_texts_and_labels_only():
    assert PUNCTUATION.search(visible('<p aria-label="{{ name }}: {{ value }}">'))
    assert PUNCTUATION.search(visible("<b>{{ name }}</b> ({{ value }})"))
    assert not PUNCTUATION.search(visible('<input name="on:{{ key }}" title="x">{% translate "a" %}'))
