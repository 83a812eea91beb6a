"""One-time QR codes: exactly as RFC 6238, and the service and a member's device agree."""

import base64
import runpy
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.sandbox import Sandbox, SandboxTenant

# Only the file is loaded: its package needs the sandbox's settings, which the calculation does not use.
TOTP = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "sandbox" / "engine" / "totp.py")))

SEED = base64.b32encode(b"12345678901234567890").decode()
#: RFC 6238, appendix B: seconds since the epoch and the last six digits of the eight for SHA-1.
VECTORS = [
    (59, "287082"),
    (1111111109, "081804"),
    (1111111111, "050471"),
    (1234567890, "005924"),
    (2000000000, "279037"),
    (20000000000, "353130"),
]
timesteps = st.sampled_from([30, 60, 300, 86400])
moments = st.integers(0, 4_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


@pytest.fixture
def tenant(sandbox: Sandbox) -> SandboxTenant:
    """Return a tenant with every contract and no members."""
    return sandbox.tenant(guests=0)


def member(sandbox: Sandbox, tenant: SandboxTenant, qrcode: dict[str, Any] | None) -> str:
    group = sandbox.api("GET", "/v1/membergroups", token=tenant.token).json()["membergroups"][0]["membergroup_id"]
    body = {"member_name": "鈴木", "membergroup_id": group} | ({"qrcode": qrcode} if qrcode else {})
    return str(sandbox.api("POST", "/v1/members", body, token=tenant.token).json()["member_id"])


def one_time(timestep: int = 300, **settings: Any) -> dict[str, Any]:
    return {"data": "D=1&x", "one_time_qr": {"enabled": True, "timestep": timestep, **settings}}


def issue(sandbox: Sandbox, tenant: SandboxTenant, member_id: str, query: str = "") -> httpx2.Response:
    return sandbox.api("POST", f"/v1/members/{member_id}/one_time_qr{query}", token=tenant.token)


def refused(answer: httpx2.Response, status: int, code: str, field: str = "") -> None:
    assert (answer.status_code, answer.json()["error_code"]) == (status, code), answer.text
    assert field in answer.json()["error_detail"]


@pytest.mark.parametrize(("seconds", "code"), VECTORS)
def test_the_vectors_of_the_rfc_hold(seconds: int, code: str) -> None:
    at = datetime.fromtimestamp(seconds, UTC)
    assert TOTP.code_at(SEED, at, 30) == code
    assert TOTP.is_valid(SEED, code, at, 30, 0)


@given(st.binary(min_size=1, max_size=40), moments, timesteps, st.integers(0, 5), st.integers(-8, 8))
@settings(max_examples=examples(1000, quick=100))
def test_a_code_is_accepted_as_many_windows_away_as_skew_says(
    key: bytes, at: datetime, timestep: int, skew: int, away: int
) -> None:
    seed = base64.b32encode(key).decode().rstrip("=")
    moment = datetime.fromtimestamp(max(0, at.timestamp() + away * timestep), UTC)
    windows = range(-skew, skew + 1)
    near = [datetime.fromtimestamp(max(0, at.timestamp() + each * timestep), UTC) for each in windows]
    code = TOTP.code_at(seed, moment, timestep)
    assert TOTP.is_valid(seed, code, at, timestep, skew) == (
        code in {TOTP.code_at(seed, each, timestep) for each in near}
    )
    assert TOTP.is_valid(seed, code, at, timestep, 8)


@given(moments, timesteps)
@settings(max_examples=examples(500, quick=100))
def test_a_code_holds_for_the_seconds_left_and_no_longer(at: datetime, timestep: int) -> None:
    left = TOTP.seconds_left(at, timestep)
    assert 1 <= left <= timestep
    last, after = (datetime.fromtimestamp(at.timestamp() + seconds, UTC) for seconds in (left - 1, left))
    assert TOTP.code_at(SEED, last, timestep) == TOTP.code_at(SEED, at, timestep)
    assert TOTP.is_valid(SEED, TOTP.code_at(SEED, at, timestep), after, timestep, 1)
    assert TOTP.seconds_left(after, timestep) == timestep


@given(st.text(max_size=12), moments)
@settings(max_examples=examples(500, quick=100))
def test_anything_else_is_no_code(given_text: str, at: datetime) -> None:
    assert TOTP.is_valid(SEED, given_text, at, 30, 0) == (given_text == TOTP.code_at(SEED, at, 30))


@given(st.text(max_size=30), st.from_regex(r"\A[0-9]{6}\Z"))
@settings(max_examples=examples(500, quick=100))
def test_what_was_written_is_read(data: str, code: str) -> None:
    assert TOTP.read_qr_text(TOTP.write_qr_text(data, code)) == (data, code)
    assert TOTP.read_qr_text(data) is None


@pytest.mark.parametrize("timestep", [30, 86400])
def test_the_service_and_the_members_device_agree(sandbox: Sandbox, tenant: SandboxTenant, timestep: int) -> None:
    member_id = member(sandbox, tenant, one_time(timestep))
    shown = sandbox.api("GET", f"/v1/members/{member_id}", token=tenant.token).json()["qrcode"]["one_time_qr"]
    earliest = time.time()
    answer = issue(sandbox, tenant, member_id).json()
    latest = time.time()
    assert set(answer) == {"member_id", "one_time_qr_data", "version", "expiration_in_seconds"}
    assert (answer["member_id"], answer["version"]) == (member_id, "1")
    on_device = {
        (TOTP.code_at(shown["totp_seed"], at, shown["timestep"]), TOTP.seconds_left(at, timestep))
        for at in (datetime.fromtimestamp(second, UTC) for second in range(int(earliest), int(latest) + 1))
    }
    code = answer["one_time_qr_data"].removeprefix("SL-OTQR?v=1&data=D=1&x&totp=")
    assert (code, answer["expiration_in_seconds"]) in on_device


def test_the_code_changes_with_the_window(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    member_id = member(sandbox, tenant, one_time(86400))
    first = issue(sandbox, tenant, member_id).json()["one_time_qr_data"]
    assert issue(sandbox, tenant, member_id, "?version=1").json()["one_time_qr_data"] == first
    sandbox.settings(tenant.tenant_id, clock_offset=86400)
    assert issue(sandbox, tenant, member_id).json()["one_time_qr_data"] != first


def test_timestep_and_skew_have_defaults(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    member_id = member(sandbox, tenant, {"data": "x", "one_time_qr": {"enabled": True}})
    shown = sandbox.api("GET", f"/v1/members/{member_id}", token=tenant.token).json()["qrcode"]["one_time_qr"]
    assert (shown["timestep"], shown["skew"]) == (300, 0)
    assert 0 < issue(sandbox, tenant, member_id).json()["expiration_in_seconds"] <= 300


@pytest.mark.parametrize("qrcode", [None, {"data": "x"}, {"email": "a@example.com"},
                                    {"data": "x", "one_time_qr": {"enabled": False}}])  # fmt: skip
def test_members_without_one_time_qr_are_refused(
    sandbox: Sandbox, tenant: SandboxTenant, qrcode: dict[str, Any] | None
) -> None:
    member_id = member(sandbox, tenant, qrcode)
    refused(issue(sandbox, tenant, member_id), 403, "40304", "one-time QR")
    path = f"/v1/members/{member_id}"
    sandbox.api("PUT", path, {"qrcode": one_time()}, token=tenant.token)
    assert issue(sandbox, tenant, member_id).status_code == 200
    sandbox.api("PUT", path, {"qrcode": None}, token=tenant.token)
    refused(issue(sandbox, tenant, member_id), 403, "40304")


@pytest.mark.parametrize("query", ["?version=2", "?version=", "?version=1&version=1", "?form=png"])
def test_there_is_one_version(sandbox: Sandbox, tenant: SandboxTenant, query: str) -> None:
    member_id = member(sandbox, tenant, one_time())
    refused(issue(sandbox, tenant, member_id, query), 400, "40002", query[1:5])


@pytest.mark.parametrize("settings", [{"timestep": 29}, {"timestep": 86401}, {"skew": -1}, {"skew": 101}])
def test_settings_beyond_the_limits_are_refused(
    sandbox: Sandbox, tenant: SandboxTenant, settings: dict[str, int]
) -> None:
    path = f"/v1/members/{member(sandbox, tenant, None)}"
    answer = sandbox.api("PUT", path, {"qrcode": one_time(**settings)}, token=tenant.token)
    refused(answer, 400, "40002", next(iter(settings)))


def test_codes_need_contract_scope_and_a_member(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    refused(issue(sandbox, sandbox.tenant(contracts=["door"]), "x"), 403, "40302", "qr")
    refused(issue(sandbox, tenant, "missing"), 404, "40401", "member_id")
    tenant.token = sandbox.token(tenant.tenant_id, scopes=["members:write"])
    refused(issue(sandbox, tenant, "missing"), 403, "40301", "members:read")


@pytest.mark.parametrize("skew", [0, 2])
def test_a_door_takes_a_code_as_many_windows_away_as_skew_says(
    sandbox: Sandbox, tenant: SandboxTenant, skew: int
) -> None:
    everywhere = {"devices_pass": {"default_mode": "allow_all"}}
    member_id = member(sandbox, tenant, one_time(60, skew=skew))
    sandbox.api("PUT", f"/v1/members/{member_id}", everywhere, token=tenant.token)
    door = sandbox.doors(tenant.token)[0]["device_id"]
    # One clock for both: the code is issued in the middle of a window, and shown some windows off.
    middle = datetime.fromtimestamp(int(time.time()) // 60 * 60 + 30, UTC)
    shown = sandbox.api("GET", f"/v1/members/{member_id}", token=tenant.token).json()["qrcode"]["one_time_qr"]
    text = TOTP.write_qr_text("D=1&x", TOTP.code_at(shown["totp_seed"], middle, 60))
    for away in range(-3, 4):
        at = datetime.fromtimestamp(middle.timestamp() + away * 60, UTC).isoformat()
        told = sandbox.console(
            "present", tenant_id=tenant.tenant_id, device_id=door, kind="one_time", value=text, at=at
        )
        assert told["admitted"] == (abs(away) <= skew), (away, told)
    plain = sandbox.console("present", tenant_id=tenant.tenant_id, device_id=door, kind="qr", value="D=1&x")
    assert plain["rule"] == "one_time_needed"
