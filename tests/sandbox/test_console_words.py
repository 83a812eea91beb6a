"""The console is complete in English and in Japanese."""

import ast
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from accessapi.limits import JST
from accessapi.permissions import AreaPlace, Decision, DecisionRule, decide_place, explain_decision, weekly
from sandbox.console.pages.words import WORDS, sentences
from tests.guards.test_words import FORBIDDEN
from tests.support.sandbox import Sandbox

_HERE = Path(__file__).resolve().parents[2] / "sandbox"
_ENGLISH, _JAPANESE = WORDS["en"], WORDS["ja"]
#: Only Japanese needs these: English shows the service's own words.
_FROM_ENGLISH = {"sentences", "schedule", "controls"}
#: Sentences of this form are the service's.
_WRITTEN = re.compile(
    r"(Refused|Allowed|Not known)[:. ].*|Door .*|Key (taken|returned)|The key is (out|in the box)\."
    r"|Wrong key|Another key .*|Power cut|Connection lost|Entry|Exit"
)


def _flat(words: dict[Any, Any], head: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in words.items():
        if not head and key in _FROM_ENGLISH:
            continue
        yield from _flat(value, f"{head}{key}.") if isinstance(value, dict) else [(f"{head}{key}", value)]


def test_both_languages_know_the_same_words_with_the_same_blanks() -> None:
    english, japanese = dict(_flat(_ENGLISH)), dict(_flat(_JAPANESE))
    assert english.keys() == japanese.keys()
    for key, text in english.items():
        assert text.strip(), key
        assert japanese[key].strip(), key
        blanks = re.compile(r"\{(\w+)\}")
        assert sorted(blanks.findall(text)) == sorted(blanks.findall(japanese[key])), key


def test_japanese_is_japanese() -> None:
    same = {key for key, text in _flat(_JAPANESE) if not re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", text)}
    assert same == {"lang", "errors.refused", "until"}


@pytest.mark.parametrize("template", sorted((_HERE / "console/templates").rglob("*.html")), ids=lambda path: path.name)
def test_every_word_that_a_page_uses_is_known(template: Path) -> None:
    for name in re.findall(r"\bwords\.(\w+(?:\.\w+)*)", template.read_text(encoding="utf-8")):
        known: Any = _ENGLISH
        for part in name.removesuffix(".items").split("."):
            assert part in known, name
            known = known[part]


def test_every_setting_and_every_fault_has_its_meaning(sandbox: Sandbox) -> None:
    names = set(sandbox.look("settings"))
    shown = sandbox.api("GET", "/console/controls/").text
    kinds = re.findall(r'<option value="(\w+)"', shown.partition('id="fault-kind"')[2].partition("</select>")[0])
    for words in (_ENGLISH, _JAPANESE):
        assert set(words["settings"]) == names
        assert set(words["fault_kinds"]) == set(kinds)
    assert set(re.findall(r'id="settings-(\w+)"', shown)) == names - {"clock_offset"}


def test_every_sentence_that_the_service_writes_is_known_in_japanese() -> None:
    written = {explain_decision(Decision(None, rule)) for rule in DecisionRule if rule is not DecisionRule.SCHEDULE}
    for path in (_HERE / "engine").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _WRITTEN.fullmatch(node.value):
                written.add(node.value)
    assert len(written) > 25
    assert sorted(text for text in written if text not in _JAPANESE["sentences"]) == []


def test_sentences_with_something_in_them_are_put_into_japanese() -> None:
    office = {"effect": "allow", "schedule": [weekly("09:00:00", "18:00:00", *_WEEKDAYS)]}
    rights = {"default_mode": "option", "areas_list": [{"area_id": "a", "pass": office}]}
    decision = decide_place(rights, AreaPlace("a"), datetime(2026, 11, 20, 12, tzinfo=JST))
    assert (
        sentences.translate_sentence(explain_decision(decision), _JAPANESE) == "時間帯により許可：月～金 09:00～18:00"
    )
    assert sentences.translate_sentence(explain_decision(decision), _ENGLISH) == explain_decision(decision)
    holiday = explain_decision(Decision(False, DecisionRule.NOWHERE, None, "元日"))
    assert sentences.translate_sentence(holiday, _JAPANESE) == "拒否：権限なし（休日：元日）"
    remote = sentences.translate_sentence("Remote cont_unlock failed; 宅配; request r1", _JAPANESE)
    assert remote == "遠隔操作：連続解錠（失敗）、宅配、リクエスト r1"
    assert sentences.translate_sentence("Temporary use; 600 s; signal", _JAPANESE) == "一時利用600秒、signal"
    assert sentences.translate_sentence("Something new", _JAPANESE) == "Something new"


_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def test_no_word_is_left_over() -> None:
    console = _HERE / "console"
    templates = "".join(path.read_text(encoding="utf-8") for path in console.rglob("*.html"))
    code = "".join(path.read_text(encoding="utf-8") for path in (console / "pages").glob("*.py"))
    unused = {
        word
        for word in _ENGLISH
        if not re.search(rf"\bwords\.{word}\b", templates) and not re.search(rf"[\"']{word}[\"']", code)
    }
    assert unused <= _FROM_ENGLISH


def test_the_consoles_words_are_plain() -> None:
    assert FORBIDDEN.findall(str([text for _key, text in _flat(_ENGLISH)])) == []


def test_japanese_has_punctuation_of_full_width() -> None:
    narrow = re.compile(r"[ぁ-んァ-ヶ一-龠][:,;(]|[:,;)][ぁ-んァ-ヶ一-龠]")
    assert [text for _key, text in _flat(_JAPANESE) if narrow.search(str(text))] == []
