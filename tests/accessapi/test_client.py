"""How the client reads answers, and what it refuses to send."""

import json
import re

import httpx2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from accessapi import errors
from accessapi.client import Client, Image
from accessapi.errors import InvalidRequest, NotSent, OutcomeUnknown, Rejected, ServiceError, UnreadableAnswer
from accessapi.operations import OPERATIONS, Body, CallClass
from accessapi.overrides import Catalogue, load_overrides
from tests.accessapi.rights import json_values
from tests.accessapi.service import client
from tests.support.effort import examples

BODIES = {
    "update_webhook": {"is_invalid": False, "url": "https://x", "trigger": {"history": {"category": ["normal"]}}},
    "create_member": {"member_name": "山田", "membergroup_id": "g"},
    "update_member": {"member_name": "山田"},
    "temporary_use": {"target": "key", "timer": 60},
    "bulk_create_members": {"members": [{"member_name": "山田", "membergroup_id": "g"}]},
    "bulk_update_members": {"members": [{"member_id": "m", "member_name": "山田"}]},
    "bulk_delete_members": {"members": [{"member_id": "m"}]},
    "create_membergroup": {"membergroup_name": "g"},
    "update_membergroup": {"membergroup_name": "g"},
    "create_guest": {
        "guest_name": "n", "use_date_start": "2026-04-01T00:00:00+09:00",
        "use_date_end": "2026-04-01T01:00:00+09:00", "qrcode_issuing_method": {"qrcode_data": "d"},
    },
    "update_guest": {"remarks": "r"},
    "operate_door": {"tag": "lock_operation", "control": "unlock"},
    "operate_keys": {"tag": "lock_operation", "control": "lock", "targets": ["01"]},
    "register_profile_image": Image(b"png", "image/png"),
    "register_face_image": Image(b"jpeg"),
}  # fmt: skip
QUERIES = {"camera_snapshots": {"cameras_list": "c1,c2"}}
CALLS = [operation for operation in OPERATIONS if operation.call_class is not CallClass.OAUTH]


def answering(status=200, content=b"{}", headers=None, seen=None, **kwargs):
    def handle(request):
        if seen is not None:
            seen.append(request)
        return httpx2.Response(status, content=content, headers=headers)

    return client("https://service.test", transport=httpx2.MockTransport(handle), **kwargs)


def make(service, operation):
    path = dict.fromkeys(operation.parameters, "x")
    return service.call(operation.name, path=path, query=QUERIES.get(operation.name), body=BODIES.get(operation.name))


GOOD = {name: "x" for operation in OPERATIONS for name in operation.parameters} | {
    "tenant_id": "t", "request_id": "r", "one_time_qr_data": "SL-OTQR?v=1",
}  # fmt: skip


@pytest.mark.parametrize("operation", CALLS, ids=lambda operation: operation.name)
def test_every_operation_can_be_called_and_its_answer_read(operation):
    seen = []
    body = {**GOOD, operation.list_key: [GOOD | {"history_id": "h"}]} if operation.list_key else GOOD
    got = make(answering(content=json.dumps(body).encode(), seen=seen), operation)
    assert got.status == 200
    [request] = seen
    assert request.method == operation.method
    assert (
        request.url.path == operation.path.replace("{", "").replace("}", "").replace("member_id", "x")
        or "{" in operation.path
    )
    assert ("License-Key" in request.headers) is operation.needs_licence
    assert bool(request.content) is (operation.body is not Body.NONE)


statuses = st.one_of(st.just(200), st.integers(200, 599))
contents = st.one_of(
    st.binary(max_size=40),
    json_values.map(lambda value: json.dumps(value).encode()),
    st.sampled_from([
        b"[" * 100_000, b'{"a":' * 50_000, b"NaN", b'{"x": 1e999}', b'{"x": "\\ud800\\u0000"}', b"\xff\xfe", b"",
        b'{"request_id": ' + b"9" * 5000 + b"}",
    ]),
    st.dictionaries(
        st.sampled_from([
            "members", "membergroups", "histories", "areas", "devices", "key_devices", "cameras", "guests",
            "last_evaluated_key", "member_id", "tenant_id", "request_id", "error_code", "error_detail", "message",
            "settings", "result", "qrcode", "use_date_start", "devices_pass", "units", "member", "device",
        ]),
        json_values | st.lists(st.dictionaries(st.sampled_from(["member_id", "area_id", "units"]), json_values)),
    ).map(lambda value: json.dumps(value).encode()),
)  # fmt: skip


@given(st.sampled_from(CALLS), statuses, contents, st.dictionaries(
    st.sampled_from(["X-Rate-Limit-Limit", "X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"]),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12),
))  # fmt: skip
@example(CALLS[0], 200, b"[" * 100_000, {})
@settings(max_examples=examples(600, quick=60))
def test_no_answer_raises_anything_but_the_error_tree(operation, status, content, headers):
    service = answering(status, content, headers)
    got = error = None
    try:
        got = make(service, operation)
    except (Rejected, OutcomeUnknown) as caught:
        error = caught
    if got is not None:
        assert 200 <= status <= 299
        json.dumps(got.data, ensure_ascii=False).encode()  # no lone surrogate is left
        assert "\x00" not in repr(got.data)
    elif status < 300:
        assert isinstance(error, UnreadableAnswer)
    else:
        said = isinstance(error, Rejected) and re.fullmatch("[0-9]{5}", error.code) and 400 <= status <= 499
        assert isinstance(error, Rejected) is (status in errors.REJECTIONS or bool(said))


def test_an_undocumented_refusal_counts_as_one_when_it_names_its_application_error():
    for body in (b"", b"{}", b"no", json.dumps({"error_code": "E12"}).encode()):
        with pytest.raises(errors.UnexpectedStatus):
            answering(422, body).call("get_tenant")


@pytest.mark.parametrize(("status", "kind"), [
    (400, errors.Invalid), (401, errors.Unauthorised), (403, errors.Forbidden), (404, errors.NotFound),
    (409, errors.Conflict), (413, errors.TooLarge), (429, errors.RateLimited), (500, errors.ServerFault),
    (502, errors.ServerFault), (302, errors.UnexpectedStatus), (418, errors.Rejected),
])  # fmt: skip
def test_a_status_says_whether_the_call_was_applied(status, kind):
    body = {"message": "Bad Request", "error_code": "40002", "error_detail": "card 0123456789 is odd"}
    with pytest.raises(ServiceError) as caught:
        answering(status, json.dumps(body).encode(), {"X-Rate-Limit-Reset": "17"}).call("get_tenant")
    assert type(caught.value) is kind
    if isinstance(caught.value, Rejected):
        assert (caught.value.code, caught.value.detail) == ("40002", body["error_detail"])
        assert "0123456789" not in str(caught.value) + repr(caught.value)
    if isinstance(caught.value, errors.RateLimited):
        assert caught.value.retry_after == 17


def test_pages_follow_the_cursor_and_repeat_the_query():
    seen = []
    replies = [{"members": [{"member_id": "1"}], "last_evaluated_key": "k=1&x"}, {"members": [{"member_id": "2"}]}]

    def handle(request):
        seen.append(dict(request.url.params))
        return httpx2.Response(200, json=replies[len(seen) - 1])

    service = client("https://service.test", transport=httpx2.MockTransport(handle))
    pages = list(service.pages("list_members", {"limit": 1000}))
    assert [member.member_id for page in pages for member in page.value.items] == ["1", "2"]
    assert seen == [{"limit": "1000"}, {"limit": "1000", "last_evaluated_key": "k=1&x"}]


@pytest.mark.parametrize("cursors", [["a", "a"], ["a", "b", "a"]])
def test_a_repeated_cursor_ends_the_list_as_unreadable(cursors):
    left = iter([*cursors, *cursors])

    def handle(request):
        return httpx2.Response(200, json={"members": [], "last_evaluated_key": next(left)})

    service = client("https://service.test", transport=httpx2.MockTransport(handle))
    with pytest.raises(UnreadableAnswer):
        list(service.pages("list_members"))


def test_a_member_that_cannot_be_read_does_not_hide_the_others():
    body = {"members": [{"member_id": "1", "member_name": 5, "new": True}, {"member_name": "nobody"}, "x"]}
    page = answering(content=json.dumps(body).encode()).call("list_members").value
    assert [(member.member_id, member.member_name, member.unknown_fields) for member in page.items] == [
        ("1", "5", {"new": True})
    ]
    assert page.unreadable_rows == [{"member_name": "nobody"}, "x"]


@pytest.mark.parametrize("identifier", ["", ".", "..", "a\nb", "a\x00"])
def test_an_identifier_that_would_change_the_call_is_refused(identifier):
    seen = []
    with pytest.raises(InvalidRequest):
        answering(seen=seen).call("read_member", path={"member_id": identifier})
    assert seen == []


@given(st.text(min_size=1, max_size=20))
def test_an_identifier_stays_one_segment_of_the_path(identifier):
    seen = []
    service = answering(content=b'{"member_id": "x"}', seen=seen)
    try:
        service.call("read_member", path={"member_id": identifier})
    except InvalidRequest:
        assert seen == []
    else:
        raw = seen[0].url.raw_path.decode()
        assert raw.startswith("/v1/members/")
        assert not set("/?#") & set(raw.removeprefix("/v1/members/"))


@pytest.mark.parametrize(("name", "kwargs"), [
    ("list_members", {"query": {"limit": 0}}),
    ("list_members", {"query": {"limit": 1001}}),
    ("list_members", {"query": {"search": "x"}}),
    ("get_tenant", {"query": {"limit": 1}}),
    ("list_histories", {"query": {"offset": 1001}}),
    ("get_tenant", {"body": {}}),
    ("create_member", {"body": {"member_name": "x"}}),
    ("create_member", {"body": None}),
    ("read_member", {"path": {}}),
    ("read_member", {"path": {"member_id": "x", "other": "y"}}),
    ("register_face_image", {"path": {"member_id": "x"}, "body": Image(b"x" * (2 * 1024 * 1024 + 1))}),
    ("register_face_image", {"path": {"member_id": "x"}, "body": Image(b"x", "image/png")}),
    ("camera_snapshots", {"query": {"cameras_list": ",".join("c" * 11)}}),
    ("camera_snapshots", {}),
])  # fmt: skip
def test_what_breaks_the_specification_is_refused_before_it_costs_a_call(name, kwargs):
    seen, asked = [], []
    service = answering(seen=seen, gate=asked.append)
    with pytest.raises(InvalidRequest) as caught:
        service.call(name, **kwargs)
    assert caught.value.problems
    assert (seen, asked) == ([], [])


def test_a_bulk_body_above_four_megabytes_is_refused():
    rights = {"default_mode": "option", "areas_list": [
        {"area_id": f"{n:0100}", "pass": {"effect": "allow_all"}} for n in range(40)
    ]}  # fmt: skip
    member = {"member_name": "x", "membergroup_id": "g", "devices_pass": rights}
    with pytest.raises(InvalidRequest, match="members"):
        answering().call("bulk_create_members", body={"members": [member] * 1000})


def test_the_gate_refuses_before_anything_is_sent():
    seen = []

    def gate(operation):
        raise LookupError(operation.name)

    with pytest.raises(LookupError, match="get_tenant"):
        answering(seen=seen, gate=gate).call("get_tenant")
    assert seen == []


def test_the_observer_hears_every_answer_and_cannot_hide_it(caplog):
    heard = []

    def observe(operation, rate, status, error):
        heard.append((operation.name, rate.remaining, status, type(error)))
        raise RuntimeError("database gone")

    headers = {"X-Rate-Limit-Remaining": "719"}
    assert answering(content=b'{"tenant_id": "t"}', headers=headers, observe=observe).call("get_tenant").value
    with pytest.raises(errors.NotFound):
        answering(404, observe=observe).call("get_tenant")
    assert heard == [("get_tenant", 719, 200, type(None)), ("get_tenant", None, 404, errors.NotFound)]
    assert "the answer stands" in caplog.text


def test_removing_a_qr_code_takes_the_shape_of_the_environment():
    seen = []
    catalogue = Catalogue(load_overrides("[shapes]\nqr_removal = { remove = true }"))
    service = answering(content=b'{"member_id":"m","request_id":"r"}', seen=seen, catalogue=catalogue)
    service.call("update_member", path={"member_id": "m"}, body={"qrcode": None, "use_date_end": None})
    service.call("bulk_update_members", body={"members": [{"member_id": "m", "qrcode": None}]})
    assert json.loads(seen[0].content) == {"qrcode": {"remove": True}, "use_date_end": None}
    assert json.loads(seen[1].content) == {"members": [{"member_id": "m", "qrcode": {"remove": True}}]}
    answering(content=b'{"member_id":"m"}', seen=seen).call(
        "update_member", path={"member_id": "m"}, body={"qrcode": None}
    )
    assert json.loads(seen[2].content) == {"qrcode": None}


def test_an_image_goes_raw_or_as_one_part():
    seen = []
    image = Image(b"\xff\xd8jpeg")
    answer = b'{"request_id": "r"}'
    answering(content=answer, seen=seen).call("register_face_image", path={"member_id": "m"}, body=image)
    assert (seen[0].content, seen[0].headers["Content-Type"]) == (image.content, "image/jpeg")
    catalogue = Catalogue(load_overrides('[shapes]\nimage_body = "multipart"\nimage_field = \'member[絵"]\''))
    service = answering(content=answer, seen=seen, catalogue=catalogue)
    service.call("register_face_image", path={"member_id": "m"}, body=image)
    assert seen[1].headers["Content-Type"].startswith("multipart/form-data; boundary=")
    assert 'name="member[絵%22]"'.encode() in seen[1].content
    assert image.content in seen[1].content


def test_rights_the_service_itself_returned_travel_back_unchanged():
    seen = []
    rights = {"default_mode": "option", "areas_list": [{"area_id": "a", "pass": {"effect": "allow_once"}}], "v": 2}
    service = answering(content=b'{"member_id":"m"}', seen=seen)
    service.call("update_member", path={"member_id": "m"}, body={"devices_pass": rights})
    assert json.loads(seen[0].content) == {"devices_pass": rights}


@pytest.mark.parametrize("token", ["", "a b", "a\r\nX: y", "トークン"])
def test_a_token_that_cannot_be_a_header_is_not_sent(token):
    service = Client(
        base_url="https://service.test", catalogue=Catalogue(), token=lambda: token,
        transport=httpx2.MockTransport(lambda request: pytest.fail("sent")),
    )  # fmt: skip
    with pytest.raises(NotSent) as caught:
        service.call("get_tenant")
    assert caught.value.reason == "no_usable_token"


def test_a_door_is_not_asked_to_open_without_a_licence_key():
    service = Client(
        base_url="https://service.test", catalogue=Catalogue(), token=lambda: "t",
        transport=httpx2.MockTransport(lambda request: pytest.fail("sent")),
    )  # fmt: skip
    with pytest.raises(NotSent) as caught:
        service.call("operate_door", path={"device_id": "d"}, body=BODIES["operate_door"])
    assert caught.value.reason == "no_licence_key"


@pytest.mark.parametrize("url", ["ftp://x", "https://", "https://u:p@x", "https://x?y=1", "https://x/#f", "x"])
def test_a_base_url_is_plain(url):
    with pytest.raises(ValueError, match="base URL"):
        client(url)


@pytest.mark.parametrize("body", [
    {"qrcode": {"data": "d", "one_time_qr": {"enabled": True, "timestep": 3601}}},
    {"members": [{"member_id": "m", "qrcode": {"data": "d", "one_time_qr": {"enabled": True, "timestep": 3601}}}]},
])  # fmt: skip
def test_a_limit_that_the_environment_states_holds_before_anything_is_sent(body):
    seen = []
    catalogue = Catalogue(load_overrides("[limits]\none_time_timestep_max = 3600"))
    name, path = ("update_member", {"member_id": "m"}) if "qrcode" in body else ("bulk_update_members", {})
    with pytest.raises(errors.InvalidRequest) as refused:
        answering(seen=seen, catalogue=catalogue).call(name, path=path, body=body)
    assert (refused.value.problems[0].field.endswith("timestep"), seen) == (True, [])
