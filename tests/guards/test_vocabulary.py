"""The service's codes and those of the audit log appear on pages in the reader's language."""

import re
from pathlib import Path

import pytest
from django.template import engines
from django.utils import translation

from accessapi.operations import SPECIFIED_OPERATIONS, Delivery
from accessapi.overrides import States
from portal.base.ui.value_words import WORDS, add_side, service_word
from portal.devices import queries
from portal.devices.actions import DoorCommand
from portal.domain.places.models import PassController
from portal.domain.rights.editor_view import modes
from tenants.connections.words import TITLES
from tenants.sentences import TEXTS, subjects
from tests.support.sources import sources

ROOT = Path(__file__).parents[2]
#: Every value that the specification names, by the kind of its field.
SPECIFIED = {
    "leaf": "open",
    "lock": "lock unlock",
    "error": "unlock_error door_unlock_error key_unlock_error",
    "power": "running",
    "network": "connected",
    "side": "in",
    "category": "normal operation",
    "request": "pending progress completed completed_with_errors succeeded failed failed_registered",
}
VALUES = [(kind, value) for kind, values in SPECIFIED.items() for value in values.split()]
#: A door's status in the service's format with this value, by the kind of its word.
STATUS = {
    "leaf": lambda value: {"door_status": {"door": value}},
    "lock": lambda value: {"door_status": {"lock": value}},
    "error": lambda value: {"door_status": {"errors": [value]}},
    "power": lambda value: {"power_status": value},
    "network": lambda value: {"cloud_com_status": value},
    "sync": lambda value: {"sync_status": value},
}
#: Fields whose values a template may show only as a word.
RAW = "account_type|request_status|side|category|product_type|door_status|power_status|cloud_com_status|sync_status"
AS_A_WORD = re.compile(r'\|word:"(\w+)"')
#: Free text of the service, such as the name of a product, which cannot be translated.
IN_CODE_TYPE = {"box.product_type"}
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


class Ones(dict):
    """A mapping with a value for every placeholder of a sentence."""

    def __missing__(self, name):
        return 1


def worded():
    """Return commands, operations, modes of rights and stored sentences, by their codes."""
    found = {str(value): label for value, label in DoorCommand.choices} | dict(TITLES) | dict(TEXTS)
    found |= {mode: title for side in ("devices", "keys") for mode, title, _hint in modes(side, None)}
    return {code: str(text % Ones()) for code, text in found.items()}


def drawn(kind, value, language):
    """Return the part of a door's page that shows its status, in a language."""
    door = PassController(device_id="D1", device_name="Lobby", status=STATUS[kind](value))
    with translation.override(language):
        context = {"door": door, "words": queries.words_of(door, States())}
        return engines["django"].get_template("devices/status.html").render(context)


@pytest.mark.parametrize(("kind", "value"), VALUES)
def test_every_value_of_the_specification_has_a_word_in_both_languages(kind, value):
    with translation.override("en"):
        assert str(service_word(kind, value)) != value
    with translation.override("ja"):
        assert JAPANESE.search(service_word(kind, value))


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind in STATUS for value in WORDS[kind]])
def test_a_door_says_each_value_in_the_readers_language(kind, value, language):
    shown = drawn(kind, value, language)
    with translation.override(language):
        assert f"<dd>{WORDS[kind][value]}</dd>" in shown
    assert f"<code>{value}</code>" not in shown


@pytest.mark.parametrize("kind", STATUS)
def test_a_value_that_nobody_described_is_shown_as_it_came_in_code_type(kind):
    assert "<code>of_another_version</code>" in drawn(kind, "of_another_version", "ja")
    assert "<code>&lt;b&gt;</code>" in drawn(kind, "<b>", "ja")


def test_files_get_the_word_or_the_value_as_it_came():
    with translation.override("ja"):
        assert str(add_side("ロビー", "in")) == "ロビー（入口側）"
        assert str(add_side("ロビー", "left")) == "ロビー（left）"
        assert "<code>left</code>" in add_side("ロビー", "left").__html__()
        assert add_side("ロビー", "") == "ロビー"


def test_commands_modes_operations_and_sentences_are_worded_in_both_languages():
    with translation.override("en"):
        assert [code for code, text in worded().items() if text == code] == []
    with translation.override("ja"):
        assert [code for code, text in worded().items() if not JAPANESE.search(text)] == []


def test_no_template_shows_a_value_of_the_service_as_it_is():
    bare = []
    for template in sources("templates", suffix=".html"):
        for shown in re.findall(r"\{\{ *(.+?) *\}\}", template.text):
            if re.search(rf"\.(?:{RAW})\b", shown):
                kinds = AS_A_WORD.findall(shown)
                if not (kinds and set(kinds) <= WORDS.keys()) and shown not in IN_CODE_TYPE:
                    bare.append((template.path.name, shown))
    assert bare == [], 'say it as a word: {{ value|word:"kind" }}'


def test_every_act_of_the_audit_log_is_about_something_that_can_be_chosen():
    named = {name for each in subjects().values() for name in each.actions}
    writes = {
        name
        for name, each in SPECIFIED_OPERATIONS.items()
        if each.delivery not in (Delivery.READ,) and each.scope is not None
    }
    assert writes - named == set()
    kept = {code.partition(".")[0] for code in TEXTS}
    parts = {"job", "key", "outcome", "refused", "role", "alert_kind", "report_kind", "safety_rule"}
    assert kept - named == parts, "parts of sentences and titles of requests, not acts"
