"""Temporary keys: who may have which key for how long, which boxes were reached, and what is recorded."""

from typing import Any

import httpx2
import pytest

from tests.support.sandbox import Sandbox, SandboxTenant

MORNINGS = {
    "mode": "weekly",
    "start": {"time": "00:00:00+09:00"},
    "end": {"time": "00:00:01+09:00"},
    "week": ["Monday"],
}


@pytest.fixture
def tenant(sandbox: Sandbox) -> SandboxTenant:
    """Return a tenant with every contract and no members."""
    return sandbox.tenant(guests=0)


def boxes(sandbox: Sandbox, tenant: SandboxTenant) -> list[str]:
    found = sandbox.api("GET", "/v1/devices/keys", token=tenant.token).json()["key_devices"]
    return [box["key_device_id"] for box in found]


def member(sandbox: Sandbox, tenant: SandboxTenant, **fields: Any) -> str:
    group = sandbox.api("GET", "/v1/membergroups", token=tenant.token).json()["membergroups"][0]["membergroup_id"]
    body = {"member_name": "田中", "membergroup_id": group, "keys_pass": {"default_mode": "allow_all"}} | fields
    answer = sandbox.api("POST", "/v1/members", body, token=tenant.token)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["member_id"])


def units(box: str, passes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    listed = [{"unit_no": unit_no, "pass": given} for unit_no, given in passes.items()]
    entry = {"key_device_id": box, "default_mode": "option", "units": listed}
    return {"default_mode": "option", "key_devices_list": [entry]}


def use(
    sandbox: Sandbox, tenant: SandboxTenant, member_id: str, targets: dict[str, list[str]], **fields: Any
) -> httpx2.Response:
    listed = [{"device_id": box, "unit_no_list": numbers} for box, numbers in targets.items()]
    body = {"target": "key", "timer": 60, "targets_list": listed} | fields
    return sandbox.api("PUT", f"/v1/members/{member_id}/temporary_use", body, token=tenant.token)


def refused(answer: httpx2.Response, status: int, code: str, field: str = "") -> None:
    assert (answer.status_code, answer.json()["error_code"]) == (status, code), answer.text
    assert field in answer.json()["error_detail"]


def test_boxes_that_were_reached_are_answered_and_every_command_recorded(
    sandbox: Sandbox, tenant: SandboxTenant
) -> None:
    first, second, cut_off = boxes(sandbox, tenant)
    sandbox.console("devices", tenant_id=tenant.tenant_id, device_id=second, has_power=False)
    member_id = member(sandbox, tenant)
    targets = {first: ["01", "02", "01"], second: ["03"], cut_off: ["01"]}
    answer = use(sandbox, tenant, member_id, targets, device_action=True, info="夜間清掃")
    assert (answer.status_code, answer.json()) == (200, {"sent_device_id_list": [first]})
    commands = sandbox.commands(tenant.tenant_id)
    assert [(row["device_id"], row["targets"]) for row in commands] == [
        (first, ["01", "02"]),
        (second, ["03"]),
        (cut_off, ["01"]),
    ]
    assert {(row["operation"], row["control"], row["info"]) for row in commands} == {(11, "temporary_use", "夜間清掃")}
    assert len({row["request_id"] for row in commands}) == 1
    sandbox.console("devices", tenant_id=tenant.tenant_id, device_id=second, has_power=True)
    assert use(sandbox, tenant, member_id, {second: ["03"]}, timer=0).json() == {"sent_device_id_list": [second]}
    assert len({row["request_id"] for row in sandbox.commands(tenant.tenant_id)}) == 2


@pytest.mark.parametrize("targets", [None, [], [{"device_id": "", "unit_no_list": []}]])
def test_nothing_named_reaches_nothing(sandbox: Sandbox, tenant: SandboxTenant, targets: Any) -> None:
    body: dict[str, Any] = {"target": "key", "timer": 86400}
    if targets:
        targets[0]["device_id"] = boxes(sandbox, tenant)[0]
    if targets is not None:
        body["targets_list"] = targets
    path = f"/v1/members/{member(sandbox, tenant)}/temporary_use"
    answer = sandbox.api("PUT", path, body, token=tenant.token)
    assert (answer.status_code, answer.json()) == (200, {"sent_device_id_list": []})
    assert sandbox.commands(tenant.tenant_id) == []


def test_permission_for_the_key_is_needed_at_whatever_hours(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    box, other, _ = boxes(sandbox, tenant)
    passes = {
        "01": {"effect": "allow", "schedule": [MORNINGS]},
        "02": {"effect": "allow_all"},
        "03": {"effect": "deny_all"},
        "04": {"effect": "allow", "schedule": []},
    }
    member_id = member(sandbox, tenant, keys_pass=units(box, passes))
    assert use(sandbox, tenant, member_id, {box: ["01", "02"]}).status_code == 200
    for targets in ({box: ["03"]}, {box: ["04"]}, {box: ["05"]}, {other: ["01"]}, {box: ["01"], other: ["01"]}):
        refused(use(sandbox, tenant, member_id, targets), 403, "40305", "permission")
    nobody = member(sandbox, tenant, keys_pass={"default_mode": "deny_all"})
    refused(use(sandbox, tenant, nobody, {box: ["01"]}), 403, "40305")
    assert len(sandbox.commands(tenant.tenant_id)) == 1


@pytest.mark.parametrize("period", [{"use_date_end": "2020-01-01T00:00:00+09:00"},
                                    {"use_date_start": "2050-01-01T00:00:00+09:00"}])  # fmt: skip
def test_members_outside_their_use_period_get_no_keys(
    sandbox: Sandbox, tenant: SandboxTenant, period: dict[str, str]
) -> None:
    member_id = member(sandbox, tenant, **period)
    refused(use(sandbox, tenant, member_id, {boxes(sandbox, tenant)[0]: ["01"]}), 403, "40305")


def test_the_setting_of_the_box_must_be_on(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    box, other, _ = boxes(sandbox, tenant)
    sandbox.console("devices", tenant_id=tenant.tenant_id, device_id=box, temporary_use_enabled=False)
    member_id = member(sandbox, tenant)
    refused(use(sandbox, tenant, member_id, {other: ["01"], box: ["01"]}), 403, "40304", box)
    assert sandbox.commands(tenant.tenant_id) == []
    assert use(sandbox, tenant, member_id, {other: ["01"]}).status_code == 200


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"target": "door"}, "target"),
        ({"target": None}, "target"),
        ({"timer": -1}, "timer"),
        ({"timer": 86401}, "timer"),
        ({"timer": 1.5}, "timer"),
        ({"timer": None}, "timer"),
        ({"info": "x" * 101}, "info"),
        ({"device_action": "yes"}, "device_action"),
        ({"targets_list": [{"device_id": "missing", "unit_no_list": ["01"]}]}, "device_id"),
        ({"targets_list": [{"device_id": "missing", "unit_no_list": ["1"]}]}, "unit_no_list"),
        ({"targets_list": [{"device_id": "missing"}]}, "unit_no_list"),
        ({"targets_list": [{"device_id": "missing", "unit_no_list": []}] * 101}, "targets_list"),
        ({"extra": 1}, "extra"),
    ],
)
def test_what_the_specification_limits_is_refused_by_name(
    sandbox: Sandbox, tenant: SandboxTenant, changes: dict[str, Any], field: str
) -> None:
    refused(use(sandbox, tenant, member(sandbox, tenant), {}, **changes), 400, "40002", field)
    assert sandbox.commands(tenant.tenant_id) == []


def test_a_unit_has_to_be_in_its_box(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    box = boxes(sandbox, tenant)[0]
    refused(use(sandbox, tenant, member(sandbox, tenant), {box: ["99"]}), 400, "40002", "unit_no_list")


def test_temporary_use_needs_contract_scope_and_a_member(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    refused(use(sandbox, sandbox.tenant(contracts=["door"]), "x", {}), 403, "40302", "key_box")
    refused(use(sandbox, tenant, "missing", {}), 404, "40401", "member_id")
    foreign = boxes(sandbox, sandbox.tenant(seed="other"))[0]
    refused(use(sandbox, tenant, member(sandbox, tenant), {foreign: ["01"]}), 400, "40002", "device_id")
    tenant.token = sandbox.token(tenant.tenant_id, scopes=["members:read"])
    refused(use(sandbox, tenant, "missing", {}), 403, "40301", "members:write")


def test_a_deleted_members_temporary_use_goes_along(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    member_id = member(sandbox, tenant)
    assert use(sandbox, tenant, member_id, {boxes(sandbox, tenant)[0]: ["01"]}).status_code == 200
    assert sandbox.api("DELETE", f"/v1/members/{member_id}", token=tenant.token).status_code == 200


def test_what_the_caller_wants_kept_is_in_the_log(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    box, _, cut_off = boxes(sandbox, tenant)
    member_id = member(sandbox, tenant)
    use(sandbox, tenant, member_id, {box: ["01", "02"], cut_off: ["01"]}, timer=90, info="夜間清掃")
    (record,) = sandbox.api("GET", "/v1/histories", token=tenant.token).json()["histories"]
    assert record["category"] == "operation"
    assert "90 s" in record["_content"]
    assert "夜間清掃" in record["_content"]
    assert (record["member"]["id"], record["device"]["id"]) == (member_id, box)
    assert [unit["unit_no"] for unit in record["device"]["units"]] == ["01", "02"]


def take(sandbox: Sandbox, tenant: SandboxTenant, box: str, unit_no: str, card: str = "CARD") -> str:
    """Take a key with a card, and return it if it was given. Return the reason code."""
    move = {"tenant_id": tenant.tenant_id, "key_device_id": box, "unit_no": unit_no, "kind": "card", "value": card}
    taken = sandbox.console("keys", action="take", **move)
    if taken["admitted"]:
        sandbox.console("keys", action="return", **move)
    return str(taken["rule"])


def restricted(sandbox: Sandbox, tenant: SandboxTenant, box: str) -> str:
    """Return the key of this box that is not normally used."""
    found = sandbox.api("GET", "/v1/devices/keys", token=tenant.token).json()["key_devices"]
    (units,) = (each["units"] for each in found if each["key_device_id"] == box)
    return next(str(unit["unit_no"]) for unit in units if unit["restriction"])


def test_the_key_can_be_taken_until_the_timer_is_over(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    box = boxes(sandbox, tenant)[0]
    member_id = member(sandbox, tenant, card_data="CARD")
    member(sandbox, tenant, card_data="ANOTHER")
    key = restricted(sandbox, tenant, box)
    assert take(sandbox, tenant, box, key) == "restricted"
    use(sandbox, tenant, member_id, {box: [key]}, timer=60)
    assert take(sandbox, tenant, box, key) == "temporary_use"
    assert take(sandbox, tenant, box, key, card="ANOTHER") == "restricted"
    sandbox.settings(tenant.tenant_id, clock_offset=50)
    assert take(sandbox, tenant, box, key) == "temporary_use"
    sandbox.settings(tenant.tenant_id, clock_offset=61)
    assert take(sandbox, tenant, box, key) == "restricted"


def test_the_last_call_for_a_key_decides(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    box = boxes(sandbox, tenant)[0]
    nights = {"effect": "allow", "schedule": [MORNINGS]}
    member_id = member(sandbox, tenant, card_data="CARD", keys_pass=units(box, {"01": nights, "02": nights}))
    use(sandbox, tenant, member_id, {box: ["01", "02"]}, timer=60)
    sandbox.settings(tenant.tenant_id, clock_offset=30)
    use(sandbox, tenant, member_id, {box: ["01"]}, timer=60)
    sandbox.settings(tenant.tenant_id, clock_offset=75)
    assert [take(sandbox, tenant, box, unit_no) for unit_no in ("01", "02")] == ["temporary_use", "outside_schedule"]
    use(sandbox, tenant, member_id, {box: ["01"]}, timer=0)
    assert take(sandbox, tenant, box, "01") == "outside_schedule"


def test_a_box_out_of_reach_knows_nothing_of_it(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    box = boxes(sandbox, tenant)[0]
    member_id = member(sandbox, tenant, card_data="CARD")
    key = restricted(sandbox, tenant, box)
    sandbox.console("devices", tenant_id=tenant.tenant_id, device_id=box, is_connected=False)
    assert use(sandbox, tenant, member_id, {box: [key]}).json() == {"sent_device_id_list": []}
    sandbox.console("devices", tenant_id=tenant.tenant_id, device_id=box, is_connected=True)
    assert take(sandbox, tenant, box, key) == "restricted"
