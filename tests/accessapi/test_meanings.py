"""What the service's words and codes mean, and what an environment may define differently."""

import pytest

from accessapi import limits
from accessapi.meanings import RequestOutcome
from accessapi.operations import OPERATIONS, Contract
from accessapi.overrides import (
    Catalogue,
    ErrorCodes,
    OverrideError,
    RefusalCause,
    RefusalMeaning,
    States,
    load_overrides,
)

ROWS = {row.name: row for row in OPERATIONS}
EVERY_CONTRACT = ("door", "key_box", "qr", "face")

DEFAULTS = """
[states]
device_request_done = ["succeeded", "completed"]
device_request_failed = ["failed", "failed_*", "timeout"]
locked = ["lock", "locked"]
unlocked = ["unlock", "unlocked", "open"]

[errors]
scope = ["40301"]
contract = { door = ["40302"], key_box = ["40302"], qr = ["40302"], face = ["40302"] }
licence = ["40303"]
setting = ["40304", "40305"]
duplicate = { card = ["40901"], face = ["40902"], qr = ["40903"] }

[limits]
one_time_timestep_max = 86400
"""


def test_the_defaults_are_what_the_project_assumes():
    assert load_overrides(DEFAULTS) == load_overrides("")
    catalogue = Catalogue(load_overrides(""))
    assert (catalogue.errors, catalogue.states) == (ErrorCodes(), States())
    assert catalogue.limits.one_time_timestep_max == limits.TIMESTEP_MAX


@pytest.mark.parametrize(("code", "meaning"), [
    ("40301", RefusalMeaning(RefusalCause.SCOPE)),
    ("40302", RefusalMeaning(RefusalCause.CONTRACT, EVERY_CONTRACT)),
    ("40303", RefusalMeaning(RefusalCause.LICENCE)),
    ("40304", RefusalMeaning(RefusalCause.SETTING)), ("40305", RefusalMeaning(RefusalCause.SETTING)),
    ("40901", RefusalMeaning(RefusalCause.DUPLICATE, ("card",))), ("40903", RefusalMeaning(RefusalCause.DUPLICATE,
    ("qr",))),
    ("40399", None), ("", None), (None, None),
])  # fmt: skip
def test_a_code_means_one_thing_or_nothing(code, meaning):
    assert ErrorCodes().meaning(code) == meaning


def test_what_a_file_states_goes_before_what_is_assumed():
    errors = load_overrides('[errors]\nscope = ["40302"]\ncontract = { qr = ["40301"], face = ["40388"] }').errors
    assert errors.meaning("40302") == RefusalMeaning(RefusalCause.SCOPE)
    assert errors.meaning("40301") == RefusalMeaning(RefusalCause.CONTRACT, ("qr",))
    assert errors.meaning("40388") == RefusalMeaning(RefusalCause.CONTRACT, ("face",))
    assert errors.meaning("40303") == RefusalMeaning(RefusalCause.LICENCE)


def test_a_code_of_several_contracts_is_about_all_of_them_though_the_file_states_only_one():
    assert load_overrides('[errors]\ncontract = { qr = ["40302"] }').errors.meaning("40302").subjects == EVERY_CONTRACT


@pytest.mark.parametrize(("code", "detail", "operation", "contract"), [
    ("40302", "the contract qr is missing", "create_member", Contract.QR),
    ("40302", "No key-box contract", "create_guest", Contract.KEY_BOX),
    ("40302", "Door entry is not contracted", "create_guest", Contract.DOOR),
    ("40302", "契約がありません", "create_guest", Contract.QR),
    ("40302", "契約がありません", "create_member", None),
    ("40302", "neither door nor qr", "create_guest", None),
    ("40302", "indoors", "list_members", None),
    ("40301", "qr", "create_guest", None),
    ("40399", "qr", "create_guest", None),
])  # fmt: skip
def test_a_missing_contract_is_the_one_that_is_named_or_else_the_one_that_is_needed(code, detail, operation, contract):
    assert ErrorCodes().contract_of(code, detail, ROWS[operation]) is contract


def test_a_code_of_one_contract_is_about_it_whatever_the_words_say():
    errors = load_overrides('[errors]\ncontract = { door = ["40311"] }').errors
    assert errors.contract_of("40311", "qr", ROWS["create_guest"]) is Contract.DOOR


@pytest.mark.parametrize(("word", "locked", "unlocked"), [
    ("lock", True, False), ("locked", True, False), ("unlock", False, True), ("open", False, True),
    ("forced_open", False, False), ("", False, False), (None, False, False),
])  # fmt: skip
def test_a_word_of_a_lock_is_locked_or_unlocked_or_neither(word, locked, unlocked):
    assert (States().is_locked(word), States().is_unlocked(word)) == (locked, unlocked)


def test_the_words_of_locks_and_requests_are_the_environments():
    states = load_overrides('[states]\nlocked = ["closed*"]\ndevice_request_failed = ["ko"]').states
    assert states.is_locked("closed_2")
    assert not states.is_locked("lock")
    assert states.outcome_of("device_request", "ko") is RequestOutcome.FAILED
    assert states.outcome_of("device_request", "timeout") is not RequestOutcome.FAILED
    assert states.outcome_of("device_request", "succeeded") is RequestOutcome.DONE
    assert states.outcome_of("device_request", None) is not RequestOutcome.DONE


@pytest.mark.parametrize(("text", "reason"), [
    ('[errors]\nscope = ["40301"]\nlicence = ["40301"]', "40301 stands in scope and in licence"),
    ('[errors]\nscope = ["4030"]', "errors.scope.0"),
    ('[errors]\nduplicate = { badge = ["40901"] }', "errors.duplicate.badge"),
    ('[states]\nlocked = ["shut"]\nunlocked = ["shut"]', "shut stands in locked and in unlocked"),
    ("[limits]\none_time_timestep_max = 90000", "limits.one_time_timestep_max"),
    ("[limits]\none_time_timestep_max = 29", "limits.one_time_timestep_max"),
])  # fmt: skip
def test_a_table_that_contradicts_itself_is_refused_with_its_place(text, reason):
    with pytest.raises(OverrideError, match=reason):
        load_overrides(text)
