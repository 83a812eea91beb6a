"""The OpenAPI document: valid, complete, strict about what is sent and open about what is received."""

import json
import subprocess
import sys

import jsonschema_rs
import pytest
import schemathesis

from accessapi.openapi import build_document
from accessapi.operations import OPERATIONS, Body, CallClass
from accessapi.overrides import Catalogue, load_overrides
from accessapi.resources import BulkUpdate, IssuingMethod, MemberCreate, MemberUpdate
from accessapi.resources.queries import SnapshotQuery
from accessapi.resources.registry import ANSWERS, QUERIES, REQUESTS
from tests.accessapi.test_resources import CASES, GUEST, NEW

DOCUMENT = build_document()
OVERRIDES = """
[operations.update_member]
number = 6
method = "POST"
path = "/v1/members/{member_id}/modify"
[shapes]
qr_removal = { remove = true }
image_body = "multipart"
image_field = "face"
pass_list_key = "passes"
[limits]
general = 50
"""


def fits(schema, value, within=DOCUMENT):
    """Check whether the schema, or the component with that name, describes the value."""
    schema = {"$ref": f"#/components/schemas/{schema}"} if isinstance(schema, str) else schema
    whole = {"components": within["components"], **schema}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True).is_valid(value)


def operations(found=DOCUMENT):
    return {each["operationId"]: each for path in found["paths"].values() for each in path.values()}


@pytest.mark.parametrize("overrides", ["", OVERRIDES])
def test_it_is_valid_openapi(overrides):
    schemathesis.openapi.from_dict(build_document(Catalogue(load_overrides(overrides)))).validate()


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.name)
def test_every_operation_says_what_the_table_says(row):
    found = DOCUMENT["paths"][row.path][row.method.lower()]
    assert (found["operationId"], found["x-number"]) == (row.name, row.number)
    assert found["x-provenance"] == row.provenance
    assert found["x-call-class"] == row.call_class
    assert found["x-delivery"] == row.delivery
    assert found.get("x-scope") == row.scope
    assert found.get("x-contract") == row.contract
    assert found.get("x-licence", False) == row.needs_licence
    places = {(each["in"], each["name"]) for each in found.get("parameters", [])}
    assert {name for place, name in places if place == "path"} == set(row.parameters)
    if row.name in QUERIES:
        assert {name for place, name in places if place == "query"} == set(QUERIES[row.name].model_fields)
    assert ("requestBody" in found) == (row.body is not Body.NONE)


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.name)
def test_every_operation_says_how_it_is_signed_and_how_it_refuses(row):
    found = DOCUMENT["paths"][row.path][row.method.lower()]
    signed = {name for way in found["security"] for name in way}
    if row.call_class is CallClass.OAUTH:
        assert signed == ({"authorizations"} if row.number > 38 else set())
        assert "400" in found["responses"]
    else:
        assert signed == ({"accessToken", "licenceKey"} if row.needs_licence else {"accessToken"})
        assert {"200", "400", "401", "429"} <= set(found["responses"])
        assert "X-Rate-Limit-Remaining" in found["responses"]["200"]["headers"]


@pytest.mark.parametrize(("model", "base", "change", "allowed"), CASES)
def test_a_schema_allows_what_its_model_takes(model, base, change, allowed):
    assert fits(model.__name__, {**base, **change}) == allowed


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (MemberCreate, NEW | {"qrcode": {"data": "d"}}),
        (MemberCreate, NEW | {"qrcode": {"data": "d", "one_time_qr": {"enabled": True}}}),
        (MemberCreate, NEW | {"qrcode": {"email": "a@b"}}),
        (MemberCreate, NEW | {"qrcode": {"email": "a@b", "data": "d"}}),
        (MemberCreate, NEW | {"qrcode": {"one_time_qr": {"enabled": True}}}),
        (MemberCreate, NEW | {"qrcode": None}),
        (MemberCreate, NEW | {"use_date_end": None}),
        (MemberCreate, NEW | {"use_date_end": "2026-04-01T00:00:00Z"}),
        (MemberCreate, NEW | {"use_date_end": "2026-02-30T00:00:00+09:00"}),
        (MemberCreate, NEW | {"member_name": "a\0"}),
        (MemberCreate, NEW | {"nickname": "x"}),
        (MemberCreate, NEW | {"devices_pass": {"default_mode": "some"}}),
        (MemberCreate, NEW | {"devices_pass": {"areas_list": []}}),
        (MemberUpdate, {"qrcode": None, "use_date_end": None}),
        (MemberUpdate, {}),
        (BulkUpdate, {"members": [{"member_id": "m", "qrcode": None}]}),
        (BulkUpdate, {"members": [{"member_name": "n"}]}),
    ],
)  # fmt: skip
def test_a_schema_refuses_what_its_model_refuses(model, value):
    try:
        model.model_validate(value)
        allowed = True
    except ValueError:
        allowed = False
    assert fits(model.__name__, value) == allowed


@pytest.mark.parametrize(
    "method",
    [{"email": "a@b"}, {"email": "a@b", "remarks": "r"}, {"qrcode_data": "q"}, {"qrcode_data": "q", "remarks": "r"},
     {"email": "a@b", "qrcode_data": "q"}, {"remarks": "r"}, {}],
)  # fmt: skip
def test_a_guests_qr_code_is_issued_in_one_way(method):
    try:
        IssuingMethod.model_validate(method)
        allowed = True
    except ValueError:
        allowed = False
    assert fits("GuestCreate", GUEST | {"qrcode_issuing_method": method}) == allowed


@pytest.mark.parametrize(("cameras", "allowed"), [("a", True), (",".join("abcdefghij"), True), ("a,,b", False),
                                                  (",".join("abcdefghijk"), False), ("", False)])  # fmt: skip
def test_at_most_ten_cameras_are_named(cameras, allowed):
    found = operations()["camera_snapshots"]["parameters"]
    schema = next(each["schema"] for each in found if each["name"] == "cameras_list")
    assert fits(schema, cameras) == allowed
    if allowed:
        SnapshotQuery.model_validate({"cameras_list": cameras})


@pytest.mark.parametrize("when", ["09:00:00+09:00", "24:00:00+09:00", "09:00", "09:00:00+09:00\n"])
@pytest.mark.parametrize("week", [["Monday"], ["*"], "*", [], ["Someday"], ["*", "*"]])
def test_a_schedule_is_described_as_it_is_checked(when, week):
    item = {"mode": "weekly", "start": {"time": when}, "end": {"time": "23:59:59+09:00"}, "week": week}
    rights = {
        "default_mode": "option",
        "areas_list": [{"area_id": "a", "pass": {"effect": "allow", "schedule": [item]}}],
    }
    value = NEW | {"devices_pass": rights}
    allowed = when == "09:00:00+09:00" and week in (["Monday"], ["*"], "*")
    assert fits("MemberCreate", value) == allowed
    try:
        MemberCreate.model_validate(value)
        taken = True
    except ValueError:
        taken = False
    assert taken == allowed


@pytest.mark.parametrize("model", sorted({model.__name__ for model in ANSWERS.values()}))
def test_what_is_received_may_hold_more(model):
    required = DOCUMENT["components"]["schemas"][model].get("required", [])
    assert fits(model, dict.fromkeys(required, "id") | {"something_new": {"a": 1}})


def test_rights_are_received_with_words_that_nobody_knows():
    member = {"member_id": "m", "devices_pass": {"default_mode": "sometimes", "since": 1}}
    assert fits("Member", member)
    item = {"mode": "monthly", "day": 3}
    areas = [{"area_id": "a", "pass": {"effect": "allow", "schedule": [item]}}]
    assert fits("Member", member | {"devices_pass": {"default_mode": "option", "areas_list": areas}})
    assert not fits("Member", member | {"devices_pass": {"default_mode": 1}})


def test_overrides_move_what_they_name():
    found = build_document(Catalogue(load_overrides(OVERRIDES)), ["http://127.0.0.1:8100"])
    assert found["paths"]["/v1/members/{member_id}/modify"]["post"]["operationId"] == "update_member"
    assert found["paths"]["/v1/members/{member_id}/modify"]["post"]["x-overridden"]
    assert found["servers"] == [{"url": "http://127.0.0.1:8100"}]
    body = operations(found)["register_face_image"]["requestBody"]["content"]
    assert set(body["multipart/form-data"]["schema"]["properties"]) == {"face"}
    assert not fits("MemberUpdate", {"qrcode": None}, within=found)
    assert fits("MemberUpdate", {"qrcode": {"remove": True}}, within=found)
    shown = operations(found)["list_pass_controllers"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert set(shown["properties"]) == {"passes"}
    assert "have 50" in found["components"]["headers"]["RateLimit"]["description"]


def test_it_is_printed_under_an_overrides_file(tmp_path):
    file = tmp_path / "operations.toml"
    file.write_text(OVERRIDES)
    command = [sys.executable, "-m", "accessapi", "openapi", "--operations", str(file), "--server", "https://x.example"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert json.loads(printed) == build_document(Catalogue(load_overrides(OVERRIDES)), ["https://x.example"])


def test_no_component_is_left_over():
    text = json.dumps(DOCUMENT)
    assert [name for name in DOCUMENT["components"]["schemas"] if f'schemas/{name}"' not in text] == []
    assert {model.__name__ for model in REQUESTS.values()} <= set(DOCUMENT["components"]["schemas"])


def test_a_notification_is_described_in_the_shape_and_words_of_the_service():
    told = build_document(
        Catalogue(
            load_overrides("""
[webhook]
id_header = "X-Number"
record = "notice.record"
names = { history_id = "number", device_id = "place.id" }
[records]
categories = ["use", "alarm"]
""")
        )
    )
    record = {"number": "h1", "place": {"id": "D1"}, "status": "occur", "category": "use"}
    assert fits("WebhookMessage", {"notice": {"record": record}}, told)
    assert not fits("WebhookMessage", {"notice": {"record": {"history_id": "h1"}}}, told), (
        "it is called otherwise there"
    )
    assert not fits("WebhookMessage", record, told)
    shown = told["components"]["schemas"]["WebhookMessage"]["properties"]["notice"]["properties"]["record"][
        "properties"
    ]
    assert shown["category"]["examples"] == ["use", "alarm"]
    assert told["webhooks"]["history"]["post"]["parameters"][0]["name"] == "X-Number"
