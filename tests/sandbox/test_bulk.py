"""The bulk queue: in order, at its pace, with partial results, and its final states."""

import time
from typing import Any

import pytest

from tests.support.sandbox import Sandbox, SandboxTenant
from tests.support.waiting import until


def group(sandbox: Sandbox, tenant: SandboxTenant) -> str:
    rows = sandbox.api("GET", "/v1/membergroups", token=tenant.token).json()["membergroups"]
    return str(rows[0]["membergroup_id"])


def submit(sandbox: Sandbox, tenant: SandboxTenant, tag: str, members: list[dict[str, Any]]) -> str:
    answer = sandbox.api("POST", f"/v1/members/bulk/{tag}", {"members": members}, token=tenant.token)
    assert answer.status_code == 200, answer.text
    assert answer.json()["request_type"] == "members_bulk"
    return str(answer.json()["request_id"])


def result(sandbox: Sandbox, tenant: SandboxTenant, request_id: str) -> dict[str, Any]:
    return dict(sandbox.api("GET", f"/v1/requests/{request_id}", token=tenant.token).json())


def finished(sandbox: Sandbox, tenant: SandboxTenant, request_id: str) -> dict[str, Any]:
    until(lambda: result(sandbox, tenant, request_id)["status"] not in {"pending", "progress"})
    return result(sandbox, tenant, request_id)


def people(count: int, group_id: str, name: str = "Person") -> list[dict[str, Any]]:
    return [{"member_name": f"{name} {number}", "membergroup_id": group_id} for number in range(count)]


def listed(sandbox: Sandbox, tenant: SandboxTenant) -> list[dict[str, Any]]:
    return list(sandbox.api("GET", "/v1/members?limit=1000", token=tenant.token).json()["members"])


def test_members_appear_one_after_another_while_the_request_runs(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant()
    sandbox.settings(tenant.tenant_id, bulk_seconds_per_member=0.02)
    request_id = submit(sandbox, tenant, "create", people(50, group(sandbox, tenant)))
    counts, statuses = [], []
    while "completed" not in statuses:
        found = result(sandbox, tenant, request_id)
        statuses.append(found["status"])
        counts.append(found["result"]["completed_member_count"])
        assert len(found["result"]["members"]) == counts[-1]
        assert found["result"]["member_count"] == 50
        assert len(listed(sandbox, tenant)) >= counts[-1]
        time.sleep(0.05)
    assert statuses[0] == "progress"
    assert counts == sorted(counts)
    assert any(0 < count < 50 for count in counts)
    assert [member["member_name"] for member in listed(sandbox, tenant)] == [f"Person {n}" for n in range(50)]
    assert [member["member_name"] for member in found["result"]["members"]] == [f"Person {n}" for n in range(50)]
    assert found["tag"] == "create"
    assert all(member["status"] == "succeeded" for member in found["result"]["members"])


def test_requests_wait_for_their_turn(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant()
    sandbox.settings(tenant.tenant_id, bulk_seconds_per_member=60)
    first = submit(sandbox, tenant, "create", people(20, group(sandbox, tenant), "First"))
    second = submit(sandbox, tenant, "create", people(5, group(sandbox, tenant), "Second"))
    assert result(sandbox, tenant, first)["status"] == "progress"
    waiting = result(sandbox, tenant, second)
    assert waiting["status"] == "pending"
    assert waiting["result"]["completed_member_count"] == 0
    sandbox.move_clock(tenant.tenant_id, minutes=26)
    assert result(sandbox, tenant, second)["status"] == "completed"
    assert result(sandbox, tenant, first)["status"] == "completed"
    names = [member["member_name"].split()[0] for member in listed(sandbox, tenant)]
    assert names == ["First"] * 20 + ["Second"] * 5


def test_one_tenants_queue_does_not_hold_up_another(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    slow = sandbox.tenant()
    sandbox.settings(slow.tenant_id, bulk_seconds_per_member=10)
    submit(sandbox, slow, "create", people(2, group(sandbox, slow)))
    request_id = submit(sandbox, tenant, "create", people(2, group(sandbox, tenant)))
    assert finished(sandbox, tenant, request_id)["status"] == "completed"


def test_failed_members_carry_their_reason_in_place(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant(contracts=["door"])
    where = group(sandbox, tenant)
    members = people(5, where)
    members[1] |= {"card_data": "C1"}
    members[2] |= {"card_data": "C1"}
    members[3] |= {"membergroup_id": "missing"}
    members[4] |= {"qrcode": {"data": "x"}}
    found = finished(sandbox, tenant, submit(sandbox, tenant, "create", members))
    assert found["status"] == "completed_with_errors"
    outcomes = found["result"]["members"]
    assert [item["status"] for item in outcomes] == ["succeeded"] * 2 + ["failed"] * 3
    assert [item["error"]["error_code"] for item in outcomes[2:]] == ["40901", "40002", "40302"]
    assert all("member_id" not in item for item in outcomes[2:])
    assert [item["member_name"] for item in outcomes] == [f"Person {n}" for n in range(5)]
    assert len(listed(sandbox, tenant)) == 2


def test_updates_hand_a_card_on_and_name_who_is_missing(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    where = group(sandbox, tenant)
    cards = [member | {"card_data": f"X{number}"} for number, member in enumerate(people(2, where))]
    made = finished(sandbox, tenant, submit(sandbox, tenant, "create", cards))["result"]["members"]
    first, second = (item["member_id"] for item in made)
    changes = [
        {"member_id": first, "card_data": "X9"},
        {"member_id": second, "card_data": "X0", "member_name": "Second"},
        {"member_id": "missing", "member_name": "Nobody"},
        {"member_id": first, "card_data": "X0"},
    ]
    found = finished(sandbox, tenant, submit(sandbox, tenant, "update", changes))
    assert [item.get("error", {}).get("error_code") for item in found["result"]["members"]] == [
        None,
        None,
        "40401",
        "40901",
    ]
    assert sandbox.api("GET", f"/v1/members/{second}", token=tenant.token).json()["card_data"] == "X0"
    assert sandbox.api("GET", f"/v1/members/{first}", token=tenant.token).json()["card_data"] == "X9"


def test_deletes_remove_each_member_once(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    wanted = [{"member_id": member["member_id"]} for member in listed(sandbox, tenant)[:3]]
    found = finished(sandbox, tenant, submit(sandbox, tenant, "delete", [*wanted, wanted[0]]))
    assert [item["status"] for item in found["result"]["members"]] == ["succeeded"] * 3 + ["failed"]
    assert len(listed(sandbox, tenant)) == 22


def test_a_request_can_fail_half_way(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant()
    sandbox.settings(tenant.tenant_id, bulk_fail_after=3)
    first = submit(sandbox, tenant, "create", people(8, group(sandbox, tenant)))
    sandbox.settings(tenant.tenant_id, bulk_fail_after=None)
    second = submit(sandbox, tenant, "create", people(2, group(sandbox, tenant), "Second"))
    found = finished(sandbox, tenant, first)
    assert found["status"] == "failed"
    assert found["result"]["member_count"] == 8
    assert len(found["result"]["members"]) == 3
    assert finished(sandbox, tenant, second)["status"] == "completed"
    assert len(listed(sandbox, tenant)) == 5


@pytest.mark.parametrize("count", [0, 1001])
def test_a_request_has_one_to_a_thousand_members(sandbox: Sandbox, tenant: SandboxTenant, count: int) -> None:
    body = {"members": people(count, group(sandbox, tenant))}
    answer = sandbox.api("POST", "/v1/members/bulk/create", body, token=tenant.token)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "40002")


def test_a_field_beyond_its_limit_refuses_the_whole_request(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    members = people(3, group(sandbox, tenant))
    members[2]["member_name"] = "x" * 41
    answer = sandbox.api("POST", "/v1/members/bulk/create", {"members": members}, token=tenant.token)
    assert answer.status_code == 400
    assert "members.2.member_name" in answer.json()["error_detail"]


def test_a_thousand_members_are_taken(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant()
    sandbox.settings(tenant.tenant_id, bulk_seconds_per_member=0)
    request_id = submit(sandbox, tenant, "create", people(1000, group(sandbox, tenant)))
    assert result(sandbox, tenant, request_id)["status"] == "completed"
    assert len(listed(sandbox, tenant)) == 1000


def test_a_body_above_four_megabytes_is_too_large(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    least = b'{"members": [], "pad": "%s"}'
    for size, status in [(4 * 1024 * 1024, 400), (4 * 1024 * 1024 + 1, 413), (20 * 1024 * 1024, 413)]:
        content = least % (b"x" * (size - len(least) + 2))
        assert len(content) == size
        answer = sandbox.api("POST", "/v1/members/bulk/create", content=content, token=tenant.token)
        assert answer.status_code == status
        assert set(answer.json()) == {"message", "error_code", "error_detail"}


@pytest.mark.attack
def test_the_queue_goes_on_after_a_power_cut() -> None:
    with Sandbox() as sandbox:
        tenant = sandbox.tenant()
        sandbox.settings(tenant.tenant_id, bulk_seconds_per_member=0.06)
        request_id = submit(sandbox, tenant, "create", people(40, group(sandbox, tenant)))
        before = until(lambda: result(sandbox, tenant, request_id)["result"]["completed_member_count"])
        sandbox.kill()
        sandbox.serve()
        assert finished(sandbox, tenant, request_id)["status"] == "completed"
        assert 0 < before < 40
        assert [m["member_name"] for m in listed(sandbox, tenant)] == [f"Person {n}" for n in range(40)]
