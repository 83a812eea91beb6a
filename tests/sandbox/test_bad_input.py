"""For any input, the answer is JSON, has the specified structure, and is never a 500."""

import json
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accessapi.operations import OPERATIONS, CallClass
from tests.support.effort import examples
from tests.support.sandbox import Sandbox, SandboxTenant

AWKWARD = ["", "\0", "\ud800", "𠮷" * 50, "x" * 5000, "../..", "%", "'; --", "2026-02-30T00:00:00+09:00", "null"]
leaves = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, -1, 10**30, 1.5, 1e308])
    | st.sampled_from(AWKWARD)
    | st.text(max_size=20)
)
names = st.sampled_from(
    ["member_name", "membergroup_id", "card_data", "qrcode", "data", "one_time_qr", "enabled", "timestep",
     "devices_pass", "default_mode", "areas_list", "area_id", "pass", "effect", "schedule", "member_id", "members",
     "trigger", "history", "category", "targets", "tag", "control", "info", "privilege", "use_date_end",
     "guest_name", "use_date_start", "qrcode_issuing_method", "qrcode_data", "email", "area_id_list", "target", "timer",
     "key_devices_list", "key_device_id", "units_no_list", "return_grace_period", "targets_list", "unit_no_list"]
)  # fmt: skip
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5), max_leaves=12
)
WRITES = [row for row in OPERATIONS if row.method != "GET" and row.call_class is not CallClass.OAUTH]
READS = [row for row in OPERATIONS if row.method == "GET" and row.call_class is not CallClass.OAUTH]


@pytest.fixture(scope="module")
def place(sandbox: Sandbox) -> SandboxTenant:
    tenant = sandbox.tenant(members=3, name="Bad input")
    sandbox.settings(tenant.tenant_id, limited=False)
    return tenant


def path_of(row: Any, sandbox: Sandbox, tenant: SandboxTenant) -> str:
    """Return the operation's path with existing identifiers, so that the body is checked."""
    if not hasattr(path_of, "ids"):
        look = {
            "member_id": ("/v1/members", "members"),
            "membergroup_id": ("/v1/membergroups", "membergroups"),
            "guest_id": ("/v1/guests", "guests"),
            "device_id": ("/v1/devices/passes", "devices"),
            "key_device_id": ("/v1/devices/keys", "key_devices"),
        }
        path_of.ids = {  # type: ignore[attr-defined]
            name: sandbox.api("GET", path, token=tenant.token).json()[key][0][name]
            for name, (path, key) in look.items()
        }
    path = row.path
    for name in row.parameters:
        path = path.replace(f"{{{name}}}", path_of.ids.get(name, "x"))  # type: ignore[attr-defined]
    return str(path)


def acceptable(answer: httpx2.Response) -> None:
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert set(answer.json()) == {"message", "error_code", "error_detail"}
        assert len(answer.json()["error_code"]) == 5


@given(st.data())
@settings(
    max_examples=examples(1500, quick=60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_body_is_answered(sandbox: Sandbox, place: SandboxTenant, data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(WRITES))
    body = data.draw(st.dictionaries(names, values, max_size=6) | values)
    answer = sandbox.api(
        row.method,
        path_of(row, sandbox, place),
        content=json.dumps(body).encode(),
        token=place.token,
        licence=place.licence_key,
    )
    acceptable(answer)


@given(st.data())
@settings(
    max_examples=examples(750, quick=40),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_query_is_answered(sandbox: Sandbox, place: SandboxTenant, data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(READS))
    text = st.text(max_size=20) | st.sampled_from(
        [value for value in AWKWARD if value != "\ud800" and len(value) < 2000]
    )
    query = data.draw(
        st.dictionaries(st.sampled_from(["limit", "fields", "last_evaluated_key", "offset"]) | text, text, max_size=3)
    )
    acceptable(sandbox.api("GET", path_of(row, sandbox, place), params=query, token=place.token))


@pytest.mark.parametrize("value", AWKWARD)
def test_awkward_text_in_a_member_is_kept_or_refused(sandbox: Sandbox, place: SandboxTenant, value: str) -> None:
    group = sandbox.api("GET", "/v1/membergroups", token=place.token).json()["membergroups"][0]["membergroup_id"]
    for body in (
        {"member_name": value},
        {"member_name": "x", "member_code": value},
        {"member_name": "x", "card_data": value},
        {"member_name": "x", "qrcode": {"data": value}},
        {"member_name": "x", "qrcode": {"email": value}},
        {"member_name": "x", "use_date_end": value},
        {"member_name": "x", "membergroup_id": value},
        {"member_name": "x", "devices_pass": {"default_mode": value}},
        {
            "member_name": "x",
            "devices_pass": {
                "default_mode": "option",
                "areas_list": [{"area_id": value, "pass": {"effect": "deny_all"}}],
            },
        },
    ):
        content = json.dumps({"membergroup_id": group} | body).encode()
        acceptable(sandbox.api("POST", "/v1/members", content=content, token=place.token))


@pytest.mark.parametrize("address", ["/oauth2/token", "/oauth2/update", "/oauth2/revoke"])
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "application/x-www-form-urlencoded"),
        (b"client_id=%00&client_secret=%00", "application/x-www-form-urlencoded"),
        (b"client_id=%FF&client_secret=%ED%A0%80&token=1", "application/x-www-form-urlencoded"),
        (b"a=1&" * 3000, "application/x-www-form-urlencoded"),
        (b"x=" + b"y" * 3_000_000, "application/x-www-form-urlencoded"),
        (b"client_id=a&client_id=b&client_secret=c", "application/x-www-form-urlencoded"),
        (b'{"client_id": "a"}', "application/json"),
        (b"--x", "multipart/form-data; boundary=x"),
        (b"client_id=a", "application/x-www-form-urlencoded; charset=nonsense"),
    ],
)
def test_any_form_is_answered(sandbox: Sandbox, address: str, content: bytes, kind: str) -> None:
    answer = sandbox.api("POST", address, content=content, headers={"Content-Type": kind})
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.status_code == 400
    assert sandbox.api("GET", address).json()["error"] == "invalid_request"


@pytest.mark.parametrize(
    "query",
    ["", "client_id=%FF", "client_id=%00&redirect_uri=%00", "%", "a=b;c=d", "client_id=x&redirect_uri=" + "y" * 6000],
)
def test_any_authorization_request_gets_a_page(sandbox: Sandbox, query: str) -> None:
    answer = sandbox.api("GET", f"/oauth2/authorize?{query}")
    assert answer.status_code == 400
    assert "invalid_request" in answer.text


def test_a_refusal_reaches_a_client_that_sends_much(sandbox: Sandbox) -> None:
    content = b"x" * 30_000_000
    for path, status in [("/v1/members", 401), ("/v1/nothing", 404), ("/oauth2/token", 400)]:
        answer = sandbox.api("POST", path, content=content)
        assert answer.status_code == status
    assert sandbox.api("GET", "/healthz").status_code == 200
