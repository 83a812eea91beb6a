"""Tokens, permissions, and the calls that a token has in an hour."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.sandbox import Sandbox, SandboxTenant


def test_without_a_known_token_nothing_answers(sandbox: Sandbox) -> None:
    for headers in ({}, {"Authorization": "Bearer nope"}, {"Authorization": "Basic eDp5"}):
        answer = sandbox.api("GET", "/v1/tenant", headers=headers)
        assert (answer.status_code, answer.json()["error_code"]) == (401, "40101")


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("GET", "/v1/tenant", "tenant:read"),
        ("PUT", "/v1/tenant/webhook", "tenant:write"),
        ("GET", "/v1/members", "members:read"),
        ("POST", "/v1/members", "members:write"),
        ("POST", "/v1/members/bulk/delete", "members:write"),
        ("GET", "/v1/membergroups", "membergroups:read"),
        ("POST", "/v1/membergroups", "membergroups:write"),
        ("GET", "/v1/areas", "areas:read"),
        ("GET", "/v1/devices/passes", "devices:read"),
        ("GET", "/v1/devices/keys", "devices:read"),
    ],
)
def test_each_operation_needs_its_scope(
    sandbox: Sandbox, tenant: SandboxTenant, method: str, path: str, scope: str
) -> None:
    others = [each for each in sandbox.look("clients")["clients"][0]["scopes"] if each != scope]
    token = sandbox.token(tenant.tenant_id, scopes=others or ["cameras:read"])
    answer = sandbox.api(method, path, token=token)
    assert (answer.status_code, answer.json()["error_code"]) == (403, "40301")
    assert scope in answer.json()["error_detail"]
    allowed = sandbox.api(method, path, token=sandbox.token(tenant.tenant_id, scopes=[scope]))
    assert allowed.status_code in {200, 400}


def test_a_request_result_needs_no_scope(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    token = sandbox.token(tenant.tenant_id, scopes=["cameras:read"])
    assert sandbox.api("GET", "/v1/requests/missing", token=token).status_code == 404


@pytest.mark.parametrize(
    ("path", "contract"),
    [("/v1/devices/keys", "key_box"), ("/v1/devices/passes/x/status", "door")],
)
def test_operations_need_their_contract(sandbox: Sandbox, path: str, contract: str) -> None:
    tenant = sandbox.tenant(contracts=[])
    answer = sandbox.api("GET", path, token=tenant.token)
    assert (answer.status_code, answer.json()["error_code"]) == (403, "40302")
    assert contract in answer.json()["error_detail"]


def test_every_answer_says_what_is_left(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    for number, path in enumerate(["/v1/tenant", "/v1/members/missing", "/v1/members?limit=0", "/v1/areas"], 1):
        answer = sandbox.api("GET", path, token=tenant.token)
        assert answer.headers["X-Rate-Limit-Limit"] == "720"
        assert answer.headers["X-Rate-Limit-Remaining"] == str(720 - number)
        assert "X-Rate-Limit-Reset" not in answer.headers
    answer = sandbox.api("GET", "/v1/devices/passes/missing/status", token=tenant.token)
    assert answer.headers["X-Rate-Limit-Limit"] == "180"
    assert answer.headers["X-Rate-Limit-Remaining"] == "179"


def test_beyond_the_limit_calls_are_refused_until_the_window_moves(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, general_limit=3, window_seconds=2)
    answers = [sandbox.api("GET", "/v1/tenant", token=tenant.token) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200] * 3 + [429] * 2
    assert answers[2].headers["X-Rate-Limit-Remaining"] == "0"
    assert answers[3].json()["error_code"] == "42901"
    assert answers[3].headers["X-Rate-Limit-Remaining"] == "0"
    assert 1 <= int(answers[3].headers["X-Rate-Limit-Reset"]) <= 2
    # The other class and another token have separate limits.
    assert sandbox.api("GET", "/v1/devices/passes/x/status", token=tenant.token).status_code == 404
    assert sandbox.api("GET", "/v1/tenant", token=sandbox.token(tenant.tenant_id)).status_code == 200
    sandbox.move_clock(tenant.tenant_id, seconds=2.1)
    answer = sandbox.api("GET", "/v1/tenant", token=tenant.token)
    assert answer.status_code == 200
    assert "X-Rate-Limit-Reset" not in answer.headers


def test_a_hundred_calls_at_once_are_counted_exactly() -> None:
    with Sandbox(workers=2) as sandbox:
        tenant = sandbox.tenant()
        sandbox.settings(tenant.tenant_id, general_limit=40)

        def call(_: int) -> tuple[int, str]:
            answer = sandbox.api("GET", "/v1/tenant", token=tenant.token)
            return answer.status_code, answer.headers["X-Rate-Limit-Remaining"]

        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(call, range(100)))
        assert sorted(status for status, _ in answers) == [200] * 40 + [429] * 60
        left = sorted((int(remaining) for status, remaining in answers if status == 200), reverse=True)
        assert left == list(range(39, -1, -1))
        calls = sandbox.calls(tenant.tenant_id)
        assert len(calls) == 100
        assert {call["operation"] for call in calls} == {1}
