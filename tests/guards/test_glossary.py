"""One thing, one word: all texts that people read use the words of `docs/glossary.md`, in both languages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest
from babel.messages.pofile import read_po

from portal.base.files.writing import REASON_HEADINGS
from portal.domain.people.member_fields import MEMBER
from portal.expected.checking import FIELDS as OF_GUESTS
from sandbox.console.pages.words.japanese import JAPANESE as CONSOLE
from sandbox.oauth.texts import JAPANESE as CONSENT

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Term:
    """A row of the glossary."""

    english: str
    japanese: str
    unused: tuple[str, ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return a pattern for the term in singular and plural; a hyphen matches a space."""
        stem = re.escape(re.sub(r"s$", "", self.english)).replace(r"\ ", "[ -]").replace(r"\-", "[ -]")
        return re.compile(rf"\b{stem}(?:e?s)?(?:['’]s?)?\b", re.I)


@dataclass(frozen=True)
class Message:
    """A message: its context, and its texts in both languages. `english` has no placeholders."""

    context: str
    english: str
    japanese: str


def terms() -> list[Term]:
    rows = re.findall(r"^\| (.+?) \| (.+?) \| .+? \| ?(.*?) ?\|$", (ROOT / "docs/glossary.md").read_text(), re.M)
    found = [Term(row[0], row[1], tuple(filter(None, row[2].split("、")))) for row in rows if row[0] != "English"]
    return sorted(found, key=lambda term: -len(term.english))


def messages() -> Iterator[Message]:
    with (ROOT / "locale/ja/LC_MESSAGES/django.po").open("rb") as file:
        catalogue = read_po(file, locale="ja")
    for each in catalogue:
        if each.id:
            ids = [each.id] if isinstance(each.id, str) else list(each.id)
            strings = [each.string] if isinstance(each.string, str) else list(each.string or ())
            english = re.sub(r"%%?\(\w+\)\w+|%%\w+|\{\w+\}|<[^>]+>", "…", " ".join(ids))
            yield Message(each.context or "", english, " ".join(map(str, strings)))


def flat(words: Any) -> Iterator[str]:
    if isinstance(words, dict):
        for each in words.values():
            yield from flat(each)
    else:
        yield str(words)


TERMS = terms()
BY_LENGTH = sorted(TERMS, key=lambda term: -len(term.japanese))  # in Japanese
MESSAGES = list(messages())

#: Other words that name a term in English: a shorter form, or a word that mentions it.
ALSO: dict[str, str] = {
    "access review": r"review(ed|s)?",
    "reviewer": r"confirmed by",
    "overview": r"about",
    "group": r"from the portal",
    "live video": r"streaming",
    "device": r"configuration",
    "API calls": r"calls?|costs?",
    "API permission": r"permissions?|scope|granted",
    "QR code": r"codes?|authenticator app",
    "access check": r"who may enter|may they pass|explain",
    "access rights": r"rights?|access|permissions?|privileges|templates?|hold|holds|have the same|same as|given|gives?",
    "access token": r"tokens?",
    "activity log": r"logs?|activity|histor(y|ies)|records?|seen|lately|did|happened",
    "area": r"here|listed|those added later|opens?",
    "audit log": r"audit|audit trail",
    "bulk change": r"changes|changes? of many members",
    "connection": r"connect\w*|reconnect|revoke[ds]?|linked|reached|act for|authorise|at the service",
    "credential": r"credentials?",
    "door": r"opens?|stands open|doors?",
    "door controller": r"pass controllers?",
    "expired": r"ended|period is over|end of use|kept after|too old",
    "file template": r"templates?",
    "expected guests": r"expected",
    "guest": r"guests?|codes?|people|nobody|expected|others of this day|issue",
    "hold unlocked": r"h[eo]ld\b.*",
    "host": r"visit",
    "import": r"import\w*|bring|spreadsheets?|left out|leave out|holds",
    "key": r"opens?|running now"
    r"|access rights?|no access",
    "key box": r"box by box|key-box",
    "licence key": r"licence",
    "member": r"members?|person|people|their|theirs|them|they|who|whom|whose|whoever|everybody|nobody|somebody|others?"
    r"|the first one|the left one|all|deviat\w+|leavers|same card|would change|permissions",
    "member ID": r"IDs?",
    "no-show": r"not arrived|not come|not",
    "not loaded": r"not (been )?(read|loaded|known)|no .* (is|are) known|not known|are known yet",
    "one-time code": r"one-time QR",
    "passkey": r"device",
    "permission": r"permissions?|role|right to|yours|may",
    "preset": r"issued with it|until there is one|default",
    "reconnect": r"connects? again|connected again|reissue|connect",
    "request": r"request\w*|ask\w*|sent|cut short|receives|calls|arrives",
    "rights template": r"templates?|keep|given from it|one of these",
    "role": r"you are here as",
    "schedule": r"hours|scheduled|times?|when|clock|week",
    "setup key": r"key",
    "staff": r"works here|role",
    "support staff": r"platform|operator",
    "suspended": r"suspen\w+|stopped|no door opens",
    "temporary keys": r"lend|keys",
    "tenant": r"lost connections|works here",
    "use period": r"use|extend",
    "visit": r"visits?|issues again|ended|came|erased",
}
#: Terms that are implied in English and named in Japanese, and the beginning of each such message.
UNDERSTOOD: dict[str, tuple[str, ...]] = {
    "API calls": (
        "Every row is checked first. Then",
        "about … minute about … minutes",
    ),
    "access rights": (
        "Loaded for … of …; oldest",
        "Replace with “…”",
        "The rest load in the background.",
        "… already has this … already",
        "… of … differs from the",
        "… was changed since and is",
    ),
    "area": (
        "Members with access",
        "New members have no access until",
    ),
    "connection": (
        "The camera is not available: it",
        "The service did not grant access.",
    ),
    "door": (
        "No commands sent from the portal",
        "Their access stops at the chosen",
    ),
    "guest": (
        "At the desk (shown or printed",
        "Delivery",
        "This continues until it is confirmed",
    ),
    "member": (
        "Change selection",
        "Copy the rights on the left",
        "Extend access",
        "If a face image is registered,",
        "No access ends within 90 days",
        "No activity in the loaded log.",
        "No bulk changes yet",
        "No shared cards",
        "Resume access",
        "Set access rights",
        "Shared cards",
        "Some differ",
        "The registered face image is deleted",
        "These rights could not be loaded",
    ),
    "permission": (
        "No access",
        "The address is wrong, the page",
    ),
    "reconnect": (
        "Connection lost. It continues automatically when",
        "The access token was revoked. Nothing",
    ),
    "request": ("Select “Deactivate now” below to try",),
    "rights template": ("Rights already set from it do",),
    "support staff": ("Who",),
    "tenant": (
        "Doors are not available: the contract",
        "Full access, including connection and staff.",
        "Keys are not available: the contract",
        "View the overview",
    ),
    "use period": (
        "Their access has ended, but their",
        "… still has access. … still",
    ),
    "visit": ("Set up the desk: presets and",),
}
#: Other words that name a term in Japanese, and when.
SAID: dict[str, str] = {
    "camera": "撮影",  # the camera of a personal phone
    "access token": "接続.*解除|解除する接続",  # the connection is ended of the tenant whose token is revoked
    "area": "業務",  # an area of work is not a place
    "device": "端末",  # a person's own phone or computer
    "door": "か所|入退室|有効な可能性",  # doors are counted by places; the contract for doors is 入退室契約
    "expired": "時間切れ",  # a request that came too late
    "guest": "名|この方|同行",  # people are counted by 名
    "import": "取り込",
    "key": "セットアップキー|キーボックス|ライセンスキー",
    "member": "名|会員|全員",
    "permission": "権限",
    "report": r"報告|report\.json",  # a signed report is a 報告書; a service reports a result
    "request": "時間切れ",
    "schedule": "予約|定期",  # "to schedule" and a weekly report have other words
    "staff": "サポート担当者|変更履歴",
    "suspended": "停止",
    "tenant": "組織",  # the service's own tenant
    "uncertain": "結果が確定",
    "visit": "訪問先|同行|件",
}


@cache
def named(text: str) -> set[Term]:
    """Return the terms that an English text names. Longer ones are found first."""
    found = set()
    for term in TERMS:
        text, count = term.pattern.subn("…", text)
        if count:
            found.add(term)
    return found


def without_terms(text: str) -> str:
    """Return a Japanese text without the words of the glossary. Longer ones are removed first."""
    text = text.replace("キーボード", "…")
    for term in BY_LENGTH:
        text = text.replace(term.japanese, "…")
    return text


def elsewhere() -> Iterator[str]:
    """Yield Japanese that people read and that is in no message: sheets, the sandbox's console, its consent page."""
    yield from flat(CONSOLE)
    yield from flat(CONSENT)
    yield REASON_HEADINGS["ja"]
    yield from (cell.headings[1] for cell in (*MEMBER.sheet_columns, *OF_GUESTS))


def test_the_glossary_says_each_thing_once():
    assert len(TERMS) > 50
    assert len({term.english for term in TERMS}) == len({term.japanese for term in TERMS}) == len(TERMS)
    assert sorted((ALSO.keys() | SAID.keys()) - {term.english for term in TERMS}) == []


def test_each_message_that_leaves_a_term_to_be_understood_is_there():
    begins = {(term, begin) for term, begins in UNDERSTOOD.items() for begin in begins}
    assert {each for each in begins if not any(m.english.startswith(each[1]) for m in MESSAGES)} == set()


def test_what_english_names_has_its_word_in_japanese():
    missing = []
    for message in MESSAGES:
        for term in named(message.english):
            words = "|".join([re.escape(term.japanese), *filter(None, [SAID.get(term.english)])])
            if not re.search(words, message.japanese):
                missing.append((term.english, message.english, message.japanese))
    assert sorted(missing) == [], "use the word of docs/glossary.md"


def test_a_japanese_word_is_used_for_its_thing_alone():
    astray = []
    for message in MESSAGES:
        text, left = f"{message.context} {message.english}", message.japanese
        meant = named(text)
        for term in BY_LENGTH:
            if term.japanese in left:
                left = left.replace(term.japanese, "…")
                passing = ALSO.get(term.english)
                understood = message.english.startswith(UNDERSTOOD.get(term.english, ()))
                if (
                    term not in meant
                    and not understood
                    and not (passing and re.search(rf"\b({passing})\b", text, re.I))
                ):
                    astray.append((term.english, message.english, message.japanese))
    assert sorted(astray) == [], "the glossary keeps this word for something else"


def test_no_second_word_is_used_for_a_thing():
    texts = [(message.english, message.japanese) for message in MESSAGES] + [("", text) for text in elsewhere()]
    found = []
    for english, japanese in texts:
        left = without_terms(japanese)
        found += [(word, term.japanese, english, japanese) for term in TERMS for word in term.unused if word in left]
    assert found == [], "use the word of docs/glossary.md"


_WIDE = "\u3000-\u30ff\u3400-\u9fff\uff01-\uff65々"
_PUT_IN = r"%\(\w+\)0?\d*[sd]|%%\w+|\{\w+\}"
TYPOGRAPHY = {
    "brackets, colons and marks are of full width": rf"[()?!](?=[{_WIDE}])|(?<=[{_WIDE}])[()?!:]",
    "no space between Japanese and anything else": rf"(?<=[{_WIDE}]) (?=[^–|])|(?<=[^|]) (?=[{_WIDE}])",
    "people are counted by 名, places by か所": r"(?<=[0-9\ue000])(人(?!間)|箇所|ヶ所|カ所)",
    "one dash for from and to": "〜",
}
#: Two values one after the other, and a bar of the sandbox.
SPACED = {"%(time)s %(place)sでコードを使用", "%(time)s %(place)sから入室", "%(time)s %(place)sから退室"}


@pytest.mark.parametrize("rule", TYPOGRAPHY)
def test_japanese_is_set_as_japanese_is(rule):
    texts = {message.japanese for message in MESSAGES} | set(elsewhere())
    plain = {text: re.sub(_PUT_IN, "\ue000", re.sub(r"<[^>]+>", "", text)) for text in texts - SPACED}
    japanese = {text: set_ for text, set_ in plain.items() if re.search(f"[{_WIDE}]", set_)}
    assert sorted(text for text, set_ in japanese.items() if re.search(TYPOGRAPHY[rule], set_)) == []
