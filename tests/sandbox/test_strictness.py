"""Sentences of the specification that apply to every operation, and unusual requests."""

import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from accessapi.operations import OPERATIONS, CallClass, Operation
from tests.support.sandbox import Sandbox, SandboxTenant

ROWS = [row for row in OPERATIONS if row.call_class is not CallClass.OAUTH]
LIMITS = {CallClass.GENERAL: "720", CallClass.DEVICE: "180"}


def call(sandbox: Sandbox, row: Operation, token: str, licence: str = "") -> Any:
    path = row.path
    for name in row.parameters:
        path = path.replace(f"{{{name}}}", "missing")
    return sandbox.api(row.method, path, token=token, licence=licence)


def code_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error_code"]


@pytest.fixture(scope="module")
def bare(sandbox: Sandbox) -> SandboxTenant:
    """Return a tenant without any contract."""
    return sandbox.tenant(contracts=[], name="Bare")


@pytest.fixture(scope="module")
def full(sandbox: Sandbox) -> SandboxTenant:
    """Return a tenant with every contract, for tests that change nothing."""
    return sandbox.tenant(members=3, name="Full")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_operation_needs_its_scope_alone(sandbox: Sandbox, full: SandboxTenant, row: Operation) -> None:
    every = sandbox.look("clients")["clients"][0]["scopes"]
    others = [scope for scope in every if scope != row.scope]
    answer = call(sandbox, row, sandbox.token(full.tenant_id, scopes=others), full.licence_key)
    if row.scope:
        assert code_of(answer) == (403, "40301")
        assert row.scope in answer.json()["error_detail"]
    own = sandbox.token(full.tenant_id, scopes=[row.scope] if row.scope else ["cameras:read"])
    assert call(sandbox, row, own, full.licence_key).status_code in (200, 400, 404)


@pytest.mark.parametrize("row", [row for row in ROWS if row.contract], ids=lambda row: row.name)
def test_each_operation_needs_its_contract(
    sandbox: Sandbox, bare: SandboxTenant, full: SandboxTenant, row: Operation
) -> None:
    answer = call(sandbox, row, bare.token)
    assert code_of(answer) == (403, "40302")
    assert str(row.contract) in answer.json()["error_detail"]
    assert call(sandbox, row, full.token).status_code != 403


@pytest.mark.parametrize("row", [row for row in ROWS if row.needs_licence], ids=lambda row: row.name)
def test_a_licence_key_is_the_tenants_own(
    sandbox: Sandbox, bare: SandboxTenant, full: SandboxTenant, row: Operation
) -> None:
    for tenant, licence in [(full, ""), (full, "lk-wrong"), (full, "é"), (bare, ""), (bare, full.licence_key)]:
        headers = {"License-Key": licence.encode()} if licence else {}
        path = row.path.replace(f"{{{row.parameters[0]}}}", "missing")
        answer = sandbox.api(row.method, path, token=tenant.token, headers=headers)
        assert code_of(answer) == (403, "40303")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_operation_is_counted_in_its_class(sandbox: Sandbox, full: SandboxTenant, row: Operation) -> None:
    token = sandbox.token(full.tenant_id)
    for used in (1, 2):
        answer = call(sandbox, row, token, full.licence_key)
        assert answer.headers["X-Rate-Limit-Limit"] == LIMITS[row.call_class]
        assert answer.headers["X-Rate-Limit-Remaining"] == str(int(LIMITS[row.call_class]) - used)
        assert "X-Rate-Limit-Reset" not in answer.headers


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_operation_takes_parameters_that_it_has_not(sandbox: Sandbox, full: SandboxTenant, row: Operation) -> None:
    path = row.path
    for name in row.parameters:
        path = path.replace(f"{{{name}}}", "missing")
    answer = sandbox.api(row.method, f"{path}?surplus=1", token=full.token, licence=full.licence_key)
    assert code_of(answer) == (400, "40002")
    assert "surplus" in answer.json()["error_detail"]


def test_a_tenant_is_shown_with_its_settings_only(sandbox: Sandbox, bare: SandboxTenant) -> None:
    found = sandbox.api("GET", "/v1/tenant", token=bare.token).json()
    assert set(found) == {"tenant_id", "tenant_name", "settings"}
    assert set(found["settings"]) == {"holiday", "webhook"}
    days = {"is_include_public_holiday", "public_holiday", "include_date", "exclude_date", "weekly"}
    assert set(found["settings"]["holiday"]) == days
    webhook = found["settings"]["webhook"]
    assert set(webhook) == {"is_invalid", "url", "secret_token", "trigger"}
    assert webhook["secret_token"] is None


def test_a_secret_token_that_is_left_out_stays_and_null_removes_it(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant(contracts=[])

    def kept(**change: Any) -> Any:
        settings = {"is_invalid": True, "url": "https://x.example", "trigger": {"history": {"category": ["normal"]}}}
        assert sandbox.api("PUT", "/v1/tenant/webhook", settings | change, token=tenant.token).json() == {}
        return sandbox.api("GET", "/v1/tenant", token=tenant.token).json()["settings"]["webhook"]["secret_token"]

    assert kept(secret_token="first") == "first"
    assert kept() == "first"
    assert kept(secret_token=None) is None


def test_a_privilege_that_is_left_out_stays_as_it_was(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant(contracts=[])
    group = sandbox.api("GET", "/v1/membergroups", token=tenant.token).json()["membergroups"][0]["membergroup_id"]
    body = {"member_name": "P", "membergroup_id": group, "privilege": {"keys_without_2fa": True}}
    path = f"/v1/members/{sandbox.api('POST', '/v1/members', body, token=tenant.token).json()['member_id']}"

    def privilege() -> Any:
        return sandbox.api("GET", path, token=tenant.token).json()["privilege"]

    assert privilege() == {"keys_without_2fa": True, "restricted_keys_enabled": False}
    change = {"privilege": {"restricted_keys_enabled": True}}
    assert sandbox.api("PUT", path, change, token=tenant.token).status_code == 200
    assert privilege() == {"keys_without_2fa": True, "restricted_keys_enabled": True}


def test_only_the_single_read_shows_rights_and_the_account(sandbox: Sandbox, full: SandboxTenant) -> None:
    single = {"account_type", "devices_pass", "keys_pass", "privilege"}
    for member in sandbox.api("GET", "/v1/members?fields=card_data", token=full.token).json()["members"]:
        read = sandbox.api("GET", f"/v1/members/{member['member_id']}", token=full.token).json()
        assert set(read) >= single | {"membergroup_id", "membergroup_name"}
        assert not (single | {"profile_image_url"}) & set(member)
        assert {name: read[name] for name in member if name != "qrcode"} == {
            name: value for name, value in member.items() if name != "qrcode"
        }


def test_a_face_request_of_a_member_who_is_deleted_fails(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant(members=1)
    sandbox.settings(tenant.tenant_id, face_seconds=60)
    member = sandbox.api("GET", "/v1/members", token=tenant.token).json()["members"][0]["member_id"]
    picture = b"\xff\xd8\xff\xe0" + bytes(100) + b"\xff\xd9"
    answer = sandbox.api("PUT", f"/v1/members/{member}/face_image", content=picture, token=tenant.token).json()
    sandbox.api("DELETE", f"/v1/members/{member}", token=tenant.token)
    sandbox.move_clock(tenant.tenant_id, seconds=61)
    found = sandbox.api("GET", f"/v1/requests/{answer['request_id']}", token=tenant.token).json()
    assert found["status"].startswith("failed_")


@pytest.mark.parametrize("query", ["a&" * 1500, "limit=1&" * 1200, "%zz=%", "limit=%FF"])
def test_a_query_that_nobody_can_read_is_refused(sandbox: Sandbox, full: SandboxTenant, query: str) -> None:
    assert code_of(sandbox.api("GET", f"/v1/members?{query}", token=full.token)) == (400, "40002")


@pytest.mark.parametrize(
    "request_text",
    [
        b"nonsense\r\n\r\n",
        b"GET /v1/tenant HTTP/9.9\r\n\r\n",
        b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 9000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nBroken header\r\n\r\n",
        b"POST /v1/members HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n",
        b"POST /v1/members HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: shredded\r\n\r\n",
        b"POST /v1/members HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\nCHUNKED\r\n\r\nzz\r\n{}\r\n",
        b"G@T / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["no request", "version", "long line", "long header", "broken header", "length", "coding", "chunk", "method"],
)
def test_what_is_no_http_is_refused_in_json(sandbox: Sandbox, full: SandboxTenant, request_text: bytes) -> None:
    place = urlsplit(sandbox.url)
    with socket.create_connection((place.hostname, place.port), timeout=10) as connection:
        connection.sendall(
            request_text.replace(b"TOKEN", full.token.encode()).replace(b"CHUNKED", b"Transfer-Encoding: chunked")
        )
        answer = b""
        while b"error_code" not in answer and (piece := connection.recv(65536)):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 40"), answer
    assert b'"error_code": "40' in answer
    assert b"<html" not in answer.lower()


@pytest.mark.parametrize(
    ("accept", "kind"), [("*/*", "application/json"), ("text/html,*/*;q=0.8", "text/html; charset=utf-8")]
)
def test_a_program_that_cannot_be_led_back_is_answered_in_json(sandbox: Sandbox, accept: str, kind: str) -> None:
    answer = sandbox.api("GET", "/oauth2/authorize?client_id=nobody", headers={"Accept": accept})
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == kind
    assert "invalid_request" in answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST"])
def test_the_consent_page_takes_its_own_forms_only(sandbox: Sandbox, full: SandboxTenant, method: str) -> None:
    client = sandbox.client("http://127.0.0.1:9/callback")
    query = {"response_type": "code", "client_id": client.client_id, "redirect_uri": client.redirect_uris[0]}
    form = {"login": full.admin_login, "password": full.admin_password, "decision": "allow"}
    answer = sandbox.api(method, "/oauth2/authorize", params=query, data=form)
    assert answer.status_code in (400, 403)
    assert answer.json()["error"] == "invalid_request"


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/" + "x" * 5000, "http://[", "no address", "ftp://127.0.0.1/x"])
def test_a_webhook_that_leads_nowhere_keeps_no_command_back(sandbox: Sandbox, url: str) -> None:
    tenant = sandbox.tenant()
    sandbox.settings(tenant.tenant_id, device_seconds=0)
    every = ["normal", "operation", "suspicious", "warning", "error", "emergency"]
    settings = {"is_invalid": False, "url": url, "secret_token": "s", "trigger": {"history": {"category": every}}}
    assert sandbox.api("PUT", "/v1/tenant/webhook", settings, token=tenant.token).status_code == 200
    door = sandbox.doors(tenant.token)[0]["device_id"]
    body = {"tag": "lock_operation", "control": "unlock"}
    path = f"/v1/devices/passes/{door}/requests"
    answer = sandbox.api("POST", path, body, token=tenant.token, licence=tenant.licence_key)
    found = sandbox.api("GET", f"/v1/requests/{answer.json()['request_id']}", token=tenant.token).json()
    assert found["status"] == "succeeded"
    assert sandbox.api("GET", "/v1/histories", token=tenant.token).status_code == 200
