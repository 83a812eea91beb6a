"""The table of operations, and what an environment may override in it."""

import tomllib

import pytest

from accessapi import limits
from accessapi.operations import OPERATIONS, SCOPES, Body, CallClass, Contract, Delivery, Provenance
from accessapi.overrides import Catalogue, OverrideError, RequestOutcome, States, load_overrides
from accessapi.reading import read_answer
from accessapi.resources import registry

DESIGN = """
[operations.update_member]
number = 6
method = "POST"
path = "/v1/members/{member_id}/modify"

[shapes]
qr_removal = { remove = true }
image_body = "raw"
pass_list_key = "devices"

[webhook]
id_header = "X-Splats-ID"
signature_header = "X-Splats-Signature"

[states]
device_request_done = ["succeeded", "completed"]
device_request_failed = ["failed", "failed_*", "timeout"]
"""


def test_there_are_forty_operations_with_numbers_and_names_of_their_own():
    assert [operation.number for operation in OPERATIONS] == list(range(1, 41))
    assert len({operation.name for operation in OPERATIONS}) == 40


def test_every_operation_has_its_models():
    for operation in OPERATIONS[:36]:
        assert (operation.body is Body.JSON) == (operation.name in registry.REQUESTS), operation.name
        assert operation.may_be_empty != (operation.name in registry.ANSWERS), operation.name
        assert operation.scope is None or operation.scope in SCOPES
    names = {operation.name for operation in OPERATIONS}
    assert names >= {*registry.REQUESTS, *registry.ANSWERS, *registry.QUERIES}


def numbers(condition):
    return {operation.number for operation in OPERATIONS if condition(operation)}


def test_the_table_says_what_the_specification_says():
    assert numbers(lambda o: o.call_class is CallClass.DEVICE) == {26, 28, 30, 31, 32, 35, 36}
    assert numbers(lambda o: o.delivery is Delivery.PHYSICAL) == {11, 35, 36}
    assert numbers(lambda o: o.delivery is Delivery.CREATE) == {4, 8, 13, 17, 20, 38, 39}
    assert numbers(lambda o: o.needs_licence) == {35, 36}
    assert numbers(lambda o: o.contract is Contract.KEY_BOX) == {11, 27, 28}
    assert numbers(lambda o: o.contract is Contract.QR) == {12, 19, 20, 21, 22}
    assert numbers(lambda o: o.is_paged) == {3, 16, 19, 23}
    assert numbers(lambda o: o.provenance is Provenance.SPECIFIED) == {
        3, 4, 5, 11, 12, 16, 20, 21, 23, 24, 25, 26, 27, 28, 37, 38, 39, 40,
    }  # fmt: skip
    assert numbers(lambda o: o.provenance is Provenance.PUBLISHED) == {35}


def test_the_file_of_the_design_is_read():
    catalogue = Catalogue(load_overrides(DESIGN))
    update = catalogue.find("update_member")
    assert (update.method, update.path, update.is_overridden) == ("POST", "/v1/members/{member_id}/modify", True)
    assert update.provenance is Provenance.ASSUMED
    assert catalogue.shapes.qr_removal == {"remove": True}
    assert catalogue.find_by_number(5).is_overridden is False
    assert len(list(catalogue)) == 40


def test_a_file_may_be_empty_or_missing(tmp_path):
    assert load_overrides("") == load_overrides(None)
    file = tmp_path / "overrides.toml"
    file.write_text(DESIGN, encoding="utf-8")
    assert load_overrides(file) == load_overrides(DESIGN)


def test_an_environment_may_name_the_pass_list_and_the_limits():
    catalogue = Catalogue(
        load_overrides('[shapes]\npass_list_key = "pass_devices"\n[limits]\ngeneral = 9\nwindow_seconds = 5')
    )
    assert catalogue.find_by_number(25).list_key == "pass_devices"
    assert catalogue.limits.general == 9
    assert catalogue.limits.device == limits.DEVICE_CALLS


def test_an_environment_may_name_the_fields_of_a_listed_door():
    catalogue = Catalogue(load_overrides('[shapes]\npass_list_names = { device_id = "id", device_name = "label" }'))
    said = b'{"devices": [{"id": "d1", "label": "Gate", "floor": 2}, {"device_id": "d2"}, 7]}'
    answer = read_answer(catalogue.find_by_number(25), 200, {}, said)
    assert [(door.device_id, door.device_name) for door in answer.value.items] == [("d1", "Gate"), ("d2", None)]
    assert answer.data["devices"][0] == {"device_id": "d1", "device_name": "Gate", "floor": 2}
    assert answer.value.unreadable_rows == [7]
    plain = read_answer(Catalogue().find_by_number(25), 200, {}, said)
    assert [door.device_id for door in plain.value.items] == ["d2"]


@pytest.mark.parametrize(("text", "reason"), [
    ('[operations.x]\nnumber = 4\npath = "/v1/other"', "operation 4 .* cannot be overridden"),
    ('[operations.x]\nnumber = 37\nmethod = "POST"', "cannot be overridden"),
    ("[operations.x]\nnumber = 41", "operations.x.number"),
    ('[shapes]\npass_list_names = { device_id = "x", device_name = "x" }', "shapes.pass_list_names"),
    ('[operations.x]\nnumber = 6\npath = "/v1/members"', "needs {member_id}"),
    ('[operations.x]\nnumber = 1\npath = "/v1/{tenant_id}"', "needs no parameters"),
    ('[operations.x]\nnumber = 1\npath = "v1"', "begin with /"),
    ('[operations.x]\nnumber = 1\npath = "/v1?x=1"', "begin with /"),
    ('[operations.x]\nnumber = 1\nmethod = "BREW"', "operations.x.method"),
    ("[operations.x]\nnumber = 6\n[operations.y]\nnumber = 6", "overridden twice"),
    ('[operations.x]\nnumber = 10\nmethod = "GET"', "operations 5 and 10 would both be"),
    ("[surprise]\nx = 1", "surprise"),
    ('[webhook]\nid_header = "X: Y"', "webhook.id_header"),
    ("[limits]\ngeneral = 0", "limits.general"),
    ("not toml", "not TOML"),
])  # fmt: skip
def test_an_override_that_cannot_be_is_refused_with_its_place(text, reason):
    with pytest.raises(OverrideError, match=reason):
        load_overrides(text)


@pytest.mark.parametrize(("kind", "status", "outcome"), [
    ("members_bulk", "pending", RequestOutcome.WAITING), ("members_bulk", "progress", RequestOutcome.RUNNING),
    ("members_bulk", "completed", RequestOutcome.DONE), ("members_bulk", "completed_with_errors",
    RequestOutcome.PARTLY),
    ("members_bulk", "failed", RequestOutcome.FAILED), ("members_bulk", "resting", RequestOutcome.UNKNOWN),
    ("face", "progress", RequestOutcome.RUNNING), ("face", "succeeded", RequestOutcome.DONE),
    ("face", "failed_registered", RequestOutcome.FAILED), ("face", "failed_of_old_age", RequestOutcome.FAILED),
    ("device_request", "pending", RequestOutcome.WAITING), ("device_request", "completed", RequestOutcome.DONE),
    ("device_request", "timeout", RequestOutcome.FAILED), ("device_request", "failed_door_open", RequestOutcome.FAILED),
    ("device_request", "thinking", RequestOutcome.UNKNOWN), (None, "succeeded", RequestOutcome.DONE),
    ("device_request", None, RequestOutcome.UNKNOWN),
])  # fmt: skip
def test_the_status_of_a_request_means_an_outcome(kind, status, outcome):
    assert States().outcome_of(kind, status) is outcome


def test_the_states_of_device_requests_are_the_environments():
    states = load_overrides('[states]\ndevice_request_done = ["opened"]').states
    assert states.outcome_of("device_request", "opened") is RequestOutcome.DONE
    assert states.outcome_of("device_request", "succeeded") is RequestOutcome.UNKNOWN
    assert tomllib.loads(DESIGN)["states"]["device_request_done"] == list(States().device_request_done)
