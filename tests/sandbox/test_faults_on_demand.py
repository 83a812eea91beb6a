"""Requested faults: each kind, on exactly the requested calls."""

import contextlib
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from tests.support.sandbox import Sandbox, SandboxClient, SandboxTenant
from tests.support.waiting import until

CALLBACK = "http://127.0.0.1:9/callback"
UNLOCK = {"tag": "lock_operation", "control": "unlock"}


@pytest.fixture
def client(sandbox: Sandbox) -> SandboxClient:
    return sandbox.client(CALLBACK)


@pytest.fixture
def everybody(sandbox: Sandbox) -> Iterator[Sandbox]:
    """Remove faults for all tenants after the test."""
    yield sandbox
    sandbox.clear_faults()


def tenant_read(sandbox: Sandbox, tenant: SandboxTenant) -> httpx2.Response:
    return sandbox.api("GET", "/v1/tenant", token=tenant.token)


def groups(sandbox: Sandbox, tenant: SandboxTenant) -> list[Any]:
    return list(sandbox.api("GET", "/v1/membergroups", token=tenant.token).json()["membergroups"])


def create_group(sandbox: Sandbox, tenant: SandboxTenant) -> httpx2.Response:
    return sandbox.api("POST", "/v1/membergroups", {"membergroup_name": "New"}, token=tenant.token)


def statuses(sandbox: Sandbox, tenant: SandboxTenant) -> list[int]:
    return [call["status"] for call in sandbox.calls(tenant.tenant_id)]


def test_a_status_meets_the_operation_and_the_count_it_was_asked_for(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.fault("status", "get_tenant", tenant.tenant_id, count=2, status=503)
    assert sandbox.api("GET", "/v1/areas", token=tenant.token).status_code == 200
    answers = [tenant_read(sandbox, tenant) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503, 503, 200]
    body = {"message": "Service Unavailable", "error_code": "50301", "error_detail": "a fault that was asked for"}
    assert answers[0].json() == body
    assert answers[0].headers["X-Rate-Limit-Remaining"] == "718"
    assert statuses(sandbox, tenant) == [200, 503, 503, 200]


def test_a_status_carries_the_code_and_detail_or_the_text_of_choice(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.fault("status", 1, tenant.tenant_id, status=409, error_code="40999", error_detail="理由")
    sandbox.fault("status", 1, tenant.tenant_id, status=502, body="<h1>Bad Gateway</h1>")
    sandbox.fault("status", 1, tenant.tenant_id, status=599)
    first, second, third = (tenant_read(sandbox, tenant) for _ in range(3))
    assert (first.status_code, first.json()["error_code"], first.json()["error_detail"]) == (409, "40999", "理由")
    assert (second.status_code, second.text) == (502, "<h1>Bad Gateway</h1>")
    assert second.headers["Content-Type"].startswith("text/html")
    assert (third.status_code, third.json()["error_code"]) == (599, "59901")


def test_a_fault_before_the_work_leaves_it_undone_and_one_after_does_not(
    sandbox: Sandbox, tenant: SandboxTenant
) -> None:
    had = len(groups(sandbox, tenant))
    sandbox.fault("status", "create_membergroup", tenant.tenant_id, status=500)
    assert create_group(sandbox, tenant).status_code == 500
    assert len(groups(sandbox, tenant)) == had
    sandbox.fault("status", "create_membergroup", tenant.tenant_id, status=504, when="after")
    assert create_group(sandbox, tenant).status_code == 504
    assert len(groups(sandbox, tenant)) == had + 1
    # The service itself completed the second one.
    assert [call["status"] for call in sandbox.calls(tenant.tenant_id, operation=17)] == [500, 200]


def test_a_connection_can_end_before_the_work(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    had = len(groups(sandbox, tenant))
    sandbox.fault("drop_before", "create_membergroup", tenant.tenant_id)
    with pytest.raises(httpx2.RemoteProtocolError):
        create_group(sandbox, tenant)
    assert len(groups(sandbox, tenant)) == had
    (call,) = sandbox.calls(tenant.tenant_id, operation=17)
    assert call["status"] == 0
    assert create_group(sandbox, tenant).headers["X-Rate-Limit-Remaining"] == "717"


def test_a_connection_can_end_after_the_work(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    door = sandbox.doors(tenant.token)[0]["device_id"]
    sandbox.fault("drop_after", "operate_door", tenant.tenant_id)
    path = f"/v1/devices/passes/{door}/requests"
    with pytest.raises(httpx2.RemoteProtocolError):
        sandbox.api("POST", path, UNLOCK, token=tenant.token, licence=tenant.licence_key)
    assert len(sandbox.commands(tenant.tenant_id)) == 1
    assert statuses(sandbox, tenant)[-1] == 200


def test_a_large_body_is_read_before_the_connection_ends(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.fault("drop_before", "bulk_create_members", tenant.tenant_id)
    body = {"members": [{"member_name": "x" * 40, "membergroup_id": "g"}] * 1000, "pad": "x" * 2_000_000}
    with pytest.raises(httpx2.RemoteProtocolError):
        sandbox.api("POST", "/v1/members/bulk/create", body, token=tenant.token)


def test_an_answer_can_be_cut_off(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    whole = tenant_read(sandbox, tenant)
    sandbox.fault("cut", "get_tenant", tenant.tenant_id)
    got = b""
    headers = {"Authorization": f"Bearer {tenant.token}"}
    with httpx2.Client() as http, http.stream("GET", f"{sandbox.url}/v1/tenant", headers=headers) as answer:
        assert answer.status_code == 200
        assert int(answer.headers["Content-Length"]) == len(whole.content)
        assert answer.headers["X-Rate-Limit-Remaining"] == "718"
        pieces = answer.iter_raw()
        with contextlib.suppress(httpx2.RemoteProtocolError):
            got += next(pieces)
        with pytest.raises(httpx2.RemoteProtocolError):
            next(pieces)
    assert got == whole.content[: len(whole.content) // 2]


def test_an_answer_can_be_no_json(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.fault("not_json", "get_tenant", tenant.tenant_id)
    sandbox.fault("not_json", "get_tenant", tenant.tenant_id, body="OK", content_type="text/plain")
    page, text = tenant_read(sandbox, tenant), tenant_read(sandbox, tenant)
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    with pytest.raises(json.JSONDecodeError):
        page.json()
    assert (text.text, text.headers["Content-Type"]) == ("OK", "text/plain")


def test_a_limit_can_be_played(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.fault("rate_limited", 0, tenant.tenant_id, reset=3600)
    refused, next_one = tenant_read(sandbox, tenant), tenant_read(sandbox, tenant)
    assert (refused.status_code, refused.json()["error_code"]) == (429, "42901")
    assert refused.headers["X-Rate-Limit-Limit"] == "720"
    assert refused.headers["X-Rate-Limit-Remaining"] == "0"
    assert refused.headers["X-Rate-Limit-Reset"] == "3600"
    # A refused call does not count.
    assert next_one.headers["X-Rate-Limit-Remaining"] == "719"
    assert statuses(sandbox, tenant) == [429, 200]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_call_can_take_long(sandbox: Sandbox, tenant: SandboxTenant, when: str) -> None:
    seconds = 2.0 if when == "after" else 0.3
    sandbox.fault("latency", "create_membergroup", tenant.tenant_id, seconds=seconds, when=when)
    had, started = len(groups(sandbox, tenant)), time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(create_group, sandbox, tenant)
        if when == "after":
            until(lambda: len(groups(sandbox, tenant)) > had)
            assert not waiting.done()
        assert waiting.result().status_code == 200
    assert time.monotonic() - started >= seconds
    assert len(groups(sandbox, tenant)) == had + 1


def test_faults_meet_calls_in_the_order_they_were_asked_for(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    for status in (500, 502, 503):
        sandbox.fault("status", 0, tenant.tenant_id, status=status)
    assert [tenant_read(sandbox, tenant).status_code for _ in range(4)] == [500, 502, 503, 200]
    assert sandbox.faults(tenant.tenant_id) == []


def test_of_many_calls_at_once_exactly_as_many_meet_a_fault(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.fault("status", "get_tenant", tenant.tenant_id, count=7, status=500)
    sandbox.fault("drop_before", "get_tenant", tenant.tenant_id, count=5)

    def call(_: int) -> int:
        with contextlib.suppress(httpx2.RemoteProtocolError):
            return tenant_read(sandbox, tenant).status_code
        return 0

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(call, range(48)))
    assert sorted(answers) == [0] * 5 + [200] * 36 + [500] * 7
    assert sandbox.faults(tenant.tenant_id) == []


def test_what_is_left_can_be_seen_and_cleared(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    kept = sandbox.fault("status", "list_members", tenant.tenant_id, count=3, status=500)
    other = sandbox.fault("latency", 0, tenant.tenant_id, seconds=1.5)
    sandbox.api("GET", "/v1/members", token=tenant.token)
    found = sandbox.faults(tenant.tenant_id)
    assert [(each["id"], each["left"]) for each in found] == [(kept["id"], 2), (other["id"], 1)]
    assert found[0] | {"error_detail": ""} == kept | {"left": 2, "error_detail": ""}
    assert (found[0]["operation"], found[1]["operation"], found[1]["seconds"]) == (3, None, 1.5)
    answer = sandbox.api("DELETE", f"/console/api/faults?id={other['id']}")
    assert answer.json() == {"cleared": 1}
    assert sandbox.clear_faults(tenant.tenant_id) == 1
    assert tenant_read(sandbox, tenant).status_code == 200


def test_another_tenants_faults_meet_nobody_else(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    other = sandbox.tenant(seed="other")
    sandbox.fault("status", 0, other.tenant_id, status=500)
    assert tenant_read(sandbox, tenant).status_code == 200
    assert tenant_read(sandbox, other).status_code == 500


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"kind": "nothing"}, "kind"),
        ({"kind": "status"}, "status"),
        ({"kind": "status", "status": 200}, "status"),
        ({"kind": "latency", "seconds": 0}, "seconds"),
        ({"kind": "drop_before", "when": "after"}, "when"),
        ({"kind": "cut", "status": 500}, "status"),
        ({"kind": "cut", "operation": 41}, "operation"),
        ({"kind": "cut", "operation": "list_nothing"}, "operation"),
        ({"kind": "cut", "count": 0}, "count"),
        ({}, "kind"),
    ],
)
def test_a_fault_that_cannot_be_is_refused(sandbox: Sandbox, wrong: dict[str, Any], named: str) -> None:
    answer = sandbox.api("POST", "/console/api/faults", wrong)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "40002")
    assert named in answer.json()["error_detail"]


def test_a_fault_for_a_stranger_is_refused(sandbox: Sandbox) -> None:
    answer = sandbox.api("POST", "/console/api/faults", {"kind": "cut", "tenant_id": "nobody"})
    assert (answer.status_code, answer.json()["error_code"]) == (404, "40401")


def exchange(sandbox: Sandbox, client: SandboxClient, code: str) -> httpx2.Response:
    form = {"grant_type": "authorization_code", "client_id": client.client_id, "code": code}
    return sandbox.api(
        "POST", "/oauth2/token", data=form | {"client_secret": client.client_secret, "redirect_uri": CALLBACK}
    )


def change(sandbox: Sandbox, client: SandboxClient, what: str, token: str) -> httpx2.Response:
    form = {"client_id": client.client_id, "client_secret": client.client_secret, "token": token}
    return sandbox.api("POST", f"/oauth2/{what}", data=form, headers={"AUTHORIZATIONS": f"Bearer {token}"})


def test_an_exchange_whose_answer_is_lost_used_up_the_code(
    sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant
) -> None:
    code = sandbox.code(client, tenant)
    sandbox.fault("status", "issue_token", tenant.tenant_id, status=503)
    sandbox.fault("drop_after", "issue_token", tenant.tenant_id)
    refused = exchange(sandbox, client, code)
    assert (refused.status_code, refused.json()["error"]) == (503, "server_error")
    with pytest.raises(httpx2.RemoteProtocolError):
        exchange(sandbox, client, code)
    assert exchange(sandbox, client, code).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(("what", "operation"), [("update", "reissue_token"), ("revoke", "revoke_token")])
def test_reissue_and_revoke_can_fail_before_and_after_the_work(
    sandbox: Sandbox, client: SandboxClient, tenant: SandboxTenant, what: str, operation: str
) -> None:
    token = exchange(sandbox, client, sandbox.code(client, tenant)).json()["access_token"]
    sandbox.fault("drop_before", operation, tenant.tenant_id)
    sandbox.fault("cut", operation, tenant.tenant_id)
    with pytest.raises(httpx2.RemoteProtocolError):
        change(sandbox, client, what, token)
    assert sandbox.api("GET", "/v1/tenant", token=token).status_code == 200
    with pytest.raises(httpx2.RemoteProtocolError):
        change(sandbox, client, what, token)
    assert sandbox.api("GET", "/v1/tenant", token=token).status_code == 401


def test_everybodys_faults_meet_the_consent_page_too(
    everybody: Sandbox, client: SandboxClient, tenant: SandboxTenant
) -> None:
    address = "/oauth2/authorize?response_type=code&client_id=" + client.client_id
    everybody.fault("status", "authorize", status=500, body="broken")
    assert everybody.api("GET", address).text == "broken"
    assert everybody.api("GET", address).status_code == 400


def test_everybodys_faults_meet_every_tenant(everybody: Sandbox, tenant: SandboxTenant) -> None:
    everybody.fault("not_json", "camera_usage", count=2)
    other = everybody.tenant(seed="other")
    for each in (tenant, other):
        assert "html" in everybody.api("GET", "/v1/cameras/usage", token=each.token).headers["Content-Type"]
    assert everybody.faults("") == []


def test_a_broken_connection_leaves_the_server_well_and_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    with Sandbox() as own:
        tenant = own.tenant()
        for kind in ("drop_before", "drop_after", "cut"):
            own.fault(kind, 0, tenant.tenant_id, count=3)
            for _ in range(3):
                with pytest.raises(httpx2.RemoteProtocolError):
                    create_group(own, tenant)
        assert tenant_read(own, tenant).status_code == 200
    assert "Traceback" not in capfd.readouterr().err
