"""Member groups count their members correctly when these are added, moved or deleted."""

from collections import Counter
from typing import Any

from tests.support.sandbox import Sandbox, SandboxTenant


def get(sandbox: Sandbox, tenant: SandboxTenant, path: str) -> dict[str, Any]:
    return dict(sandbox.api("GET", path, token=tenant.token).json())


def counted(sandbox: Sandbox, tenant: SandboxTenant) -> dict[str, int]:
    """Return member_count of each group, after a comparison with the list of members."""
    groups = get(sandbox, tenant, "/v1/membergroups?limit=1000")["membergroups"]
    counts = {group["membergroup_id"]: group["member_count"] for group in groups}
    members = get(sandbox, tenant, "/v1/members?limit=1000")["members"]
    assert {group: count for group, count in counts.items() if count} == Counter(m["membergroup_id"] for m in members)
    return counts


def bulk(sandbox: Sandbox, tenant: SandboxTenant, tag: str, members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    body = {"members": members}
    request = sandbox.api("POST", f"/v1/members/bulk/{tag}", body, token=tenant.token).json()["request_id"]
    return list(get(sandbox, tenant, f"/v1/requests/{request}")["result"]["members"])


def test_counts_follow_every_way_in_which_members_come_move_and_go(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, bulk_seconds_per_member=0)
    before = counted(sandbox, tenant)
    first, second = list(before)[:2]
    assert sum(before.values()) == 25
    one = sandbox.api("POST", "/v1/members", {"member_name": "One", "membergroup_id": first}, token=tenant.token).json()
    made = bulk(sandbox, tenant, "create", [{"member_name": f"New {n}", "membergroup_id": first} for n in range(4)])
    ids = [one["member_id"], *(item["member_id"] for item in made)]
    assert counted(sandbox, tenant)[first] == before[first] + 5
    sandbox.api("PUT", f"/v1/members/{ids[0]}", {"membergroup_id": second}, token=tenant.token)
    moves = [{"member_id": ids[1], "membergroup_id": second}, {"member_id": ids[1], "membergroup_id": first}]
    stays = [{"member_id": ids[2], "membergroup_id": first}, {"member_id": ids[3], "membergroup_id": "missing"}]
    bulk(sandbox, tenant, "update", [*moves, *stays, {"member_id": ids[4], "membergroup_id": second}])
    assert counted(sandbox, tenant)[second] == before[second] + 2
    sandbox.api("DELETE", f"/v1/members/{ids[0]}", token=tenant.token)
    bulk(sandbox, tenant, "delete", [{"member_id": each} for each in [*ids[1:], ids[1], "missing"]])
    assert counted(sandbox, tenant) == before
