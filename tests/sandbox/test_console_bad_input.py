"""For any input to the control API or the file addresses, the answer is JSON and not a server error."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.sandbox import Sandbox

pytestmark = pytest.mark.soak

PLACES = [
    "tenants",
    "clients",
    "tokens",
    "settings",
    "commands",
    "calls",
    "mails",
    "devices",
    "cameras",
    "faults",
    "clock",
    "present",
    "keys",
    "doors",
    "people",
    "histories",
    "deliveries",
    "nothing",
]
NAMES = [
    "name",
    "contracts",
    "seed",
    "admin_login",
    "redirect_uris",
    "scopes",
    "client_id",
    "client_secret",
    "has_power",
    "is_connected",
    "operation",
    "count",
    "status",
    "latency",
    "kind",
    "after",
    "seconds",
    "at",
    "reset",
    "value",
    "action",
    "unit_no",
    "member_id",
    "limited",
    "general_limit",
    "window_seconds",
    "bulk_fail_after",
    "clock_offset",
    "passages_per_hour",
    "body",
    "detail",
    "code",
]
WORDS = [
    "lock",
    "unlock",
    "close",
    "take",
    "return",
    "card",
    "qr",
    "face",
    "01",
    "status",
    "json",
    "get_tenant",
    "2026-02-30T00:00:00+09:00",
    "0001-01-01T00:00:00+09:00",
    "9999-12-31T23:59:59+09:00",
]
AWKWARD = ["", "\0", "\ud800", "𠮷" * 50, "x" * 5000, "'; --"]
NUMBERS = [0, -1, 1, 3, 1.5, 1e308, 10**30, -1e308]
PARTS = ["files", "cameras", "profile_images", "live.m3u8", "..", "%00", "%FF", "x" * 300, ""]

leaves = st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(WORDS + AWKWARD) | st.text(max_size=10)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
queries = st.dictionaries(
    st.sampled_from(["tenant_id", "after", "operation"]), st.sampled_from(["", "x", "-1", "9" * 30])
)


@pytest.fixture(scope="module")
def alone() -> Iterator[tuple[Sandbox, dict[str, str]]]:
    """Return a separate service, since its settings may affect all tenants, and its settings by field."""
    with Sandbox() as sandbox:
        tenant = sandbox.tenant(members=3)
        door = sandbox.doors(tenant.token)[0]["device_id"]
        box = sandbox.api("GET", "/v1/devices/keys", token=tenant.token).json()["key_devices"][0]["key_device_id"]
        camera = sandbox.look("cameras", tenant_id=tenant.tenant_id)["cameras"][0]["camera_id"]
        yield sandbox, {"tenant_id": tenant.tenant_id, "device_id": door, "key_device_id": box, "camera_id": camera}


@given(st.data())
@settings(max_examples=1500, suppress_health_check=list(HealthCheck))
def test_anything_that_is_asked_of_the_console_is_answered(
    alone: tuple[Sandbox, dict[str, str]], data: st.DataObject
) -> None:
    sandbox, known = alone
    method = data.draw(st.sampled_from(["POST", "POST", "POST", "GET", "DELETE", "PUT"]))
    body = data.draw(st.dictionaries(st.sampled_from(NAMES), values, max_size=5) | values)
    if isinstance(body, dict):
        body |= {name: known[name] for name in data.draw(st.sets(st.sampled_from(sorted(known))))}
    answer = sandbox.api(
        method,
        f"/console/api/{data.draw(st.sampled_from(PLACES))}",
        params=data.draw(queries),
        content=json.dumps(body),
        headers={"Content-Type": "application/json"},
    )
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert set(answer.json()) == {"message", "error_code", "error_detail"}


@given(st.lists(st.sampled_from(PARTS) | st.text(alphabet="abz019-_.~%:", max_size=12), max_size=5))
@settings(max_examples=500, suppress_health_check=list(HealthCheck))
def test_an_address_that_was_not_given_out_is_refused_in_json(
    alone: tuple[Sandbox, dict[str, str]], parts: list[str]
) -> None:
    answer = alone[0].api("GET", "/files/" + "/".join(parts))
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.status_code in (400, 404), answer.text
