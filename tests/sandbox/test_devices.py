"""Areas, doors and key boxes; commands are recorded, carried out by the clock, and doors lock again."""

import contextlib
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.sandbox import Sandbox, SandboxTenant
from tests.support.waiting import until

UNLOCK = {"tag": "lock_operation", "control": "unlock"}


def doors(sandbox: Sandbox, tenant: SandboxTenant) -> list[dict[str, Any]]:
    return sandbox.doors(tenant.token)


def operate(sandbox: Sandbox, tenant: SandboxTenant, device_id: str, **changes: Any) -> str:
    path = f"/v1/devices/passes/{device_id}/requests"
    answer = sandbox.api("POST", path, UNLOCK | changes, token=tenant.token, licence=tenant.licence_key)
    assert answer.status_code == 200, answer.text
    assert answer.json()["request_type"] == "device_request"
    return str(answer.json()["request_id"])


def status(sandbox: Sandbox, tenant: SandboxTenant, request_id: str) -> str:
    answer = sandbox.api("GET", f"/v1/requests/{request_id}", token=tenant.token).json()
    assert set(answer) == {"request_id", "request_type", "status"}
    return str(answer["status"])


def lock(sandbox: Sandbox, tenant: SandboxTenant, device_id: str) -> str:
    answer = sandbox.api("GET", f"/v1/devices/passes/{device_id}/status", token=tenant.token).json()
    assert set(answer) == {
        "device_id",
        "device_name",
        "door_status",
        "power_status",
        "cloud_com_status",
        "sync_status",
    }
    return str(answer["door_status"]["lock"])


def test_areas_name_their_doors(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    areas = sandbox.api("GET", "/v1/areas", token=tenant.token).json()["areas"]
    assert len(areas) == 12
    named = {place["device_id"] for area in areas for place in area["devices_list"]}
    assert named == {door["device_id"] for door in doors(sandbox, tenant)}
    assert {place["in_out"] for area in areas for place in area["devices_list"]} == {"in", "out"}


def test_a_door_unlocks_and_relocks(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, device_seconds=30, relock_seconds=60)
    door = doors(sandbox, tenant)[0]["device_id"]
    assert lock(sandbox, tenant, door) == "lock"
    request_id = operate(sandbox, tenant, door, info="受付")
    assert status(sandbox, tenant, request_id) == "progress"
    assert lock(sandbox, tenant, door) == "lock"
    sandbox.move_clock(tenant.tenant_id, seconds=40)
    assert status(sandbox, tenant, request_id) == "succeeded"
    assert lock(sandbox, tenant, door) == "unlock"
    sandbox.move_clock(tenant.tenant_id, seconds=60)
    assert lock(sandbox, tenant, door) == "lock"
    (command,) = sandbox.commands(tenant.tenant_id)
    assert command["info"] == "受付"
    assert (command["operation"], command["device_id"], command["control"]) == (35, door, "unlock")
    assert command["request_id"] == request_id


def test_a_door_kept_open_stays_open_until_locked(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, device_seconds=0, relock_seconds=0)
    door = doors(sandbox, tenant)[0]["device_id"]
    operate(sandbox, tenant, door, control="cont_unlock")
    assert lock(sandbox, tenant, door) == "unlock"
    operate(sandbox, tenant, door, control="lock")
    assert lock(sandbox, tenant, door) == "lock"


def test_a_door_out_of_reach_fails(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, device_seconds=0)
    door = doors(sandbox, tenant)[0]["device_id"]
    sandbox.console("devices", tenant_id=tenant.tenant_id, device_id=door, is_connected=False)
    assert status(sandbox, tenant, operate(sandbox, tenant, door)) == "failed"
    found = sandbox.api("GET", f"/v1/devices/passes/{door}/status", token=tenant.token).json()
    assert found["door_status"] == {"door": "close", "lock": "lock", "errors": ["unlock_error"]}
    assert found["cloud_com_status"] == "disconnected"


def test_mock_devices_end_as_their_names_say(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, mock_timeout_seconds=30)
    assert status(sandbox, tenant, operate(sandbox, tenant, "mock_succeeded")) == "succeeded"
    assert status(sandbox, tenant, operate(sandbox, tenant, "mock_succeeded_5")) == "progress"
    request_id = operate(sandbox, tenant, "mock_timeout")
    assert status(sandbox, tenant, request_id) == "progress"
    sandbox.move_clock(tenant.tenant_id, seconds=40)
    assert status(sandbox, tenant, request_id) == "timeout"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"tag": "other"}, "tag"),
        ({"control": "open"}, "control"),
        ({"control": None}, "control"),
        ({"info": "x" * 101}, "info"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_command_beyond_the_specification_is_not_carried_out(
    sandbox: Sandbox, tenant: SandboxTenant, changes: dict[str, Any], field: str
) -> None:
    path = f"/v1/devices/passes/{doors(sandbox, tenant)[0]['device_id']}/requests"
    answer = sandbox.api("POST", path, UNLOCK | changes, token=tenant.token, licence=tenant.licence_key)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "40002")
    assert field in answer.json()["error_detail"]
    assert sandbox.commands(tenant.tenant_id) == []


def test_commands_need_the_licence(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    path = f"/v1/devices/passes/{doors(sandbox, tenant)[0]['device_id']}/requests"
    without = sandbox.tenant(contracts=["door"])
    for token, licence in [
        (tenant.token, ""),
        (tenant.token, "wrong"),
        (tenant.token, "é"),
        (without.token, ""),
        (without.token, tenant.licence_key),
    ]:
        headers = {"License-Key": licence.encode()} if licence else {}
        answer = sandbox.api("POST", path, UNLOCK, token=token, headers=headers)
        assert (answer.status_code, answer.json()["error_code"]) == (403, "40303")
    assert sandbox.commands(tenant.tenant_id) == []


def test_another_tenants_door_does_not_exist(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    other = sandbox.tenant(seed="other")
    path = f"/v1/devices/passes/{doors(sandbox, other)[0]['device_id']}/requests"
    answer = sandbox.api("POST", path, UNLOCK, token=tenant.token, licence=tenant.licence_key)
    assert (answer.status_code, answer.json()["error_code"]) == (404, "40401")


def test_a_command_counts_even_when_nobody_waits_for_the_answer(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, request_latency=0.5)
    door = doors(sandbox, tenant)[0]["device_id"]
    body = json.dumps(UNLOCK).encode()
    where = urlsplit(sandbox.url)
    with contextlib.closing(socket.create_connection((where.hostname, where.port))) as line:
        line.sendall(
            f"POST /v1/devices/passes/{door}/requests HTTP/1.1\r\nHost: {where.netloc}\r\n"
            f"Authorization: Bearer {tenant.token}\r\nLicense-Key: {tenant.licence_key}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
    assert len(until(lambda: sandbox.commands(tenant.tenant_id))) == 1


def test_key_boxes_are_listed_and_their_keys_released(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    sandbox.settings(tenant.tenant_id, device_seconds=0)
    boxes = sandbox.api("GET", "/v1/devices/keys", token=tenant.token).json()["key_devices"]
    box = boxes[0]
    assert box["number_of_management"] == len(box["units"]) == 10
    path = f"/v1/devices/keys/{box['key_device_id']}/requests"
    body = UNLOCK | {"targets": ["01", "02"]}
    answer = sandbox.api("POST", path, body, token=tenant.token, licence=tenant.licence_key)
    assert status(sandbox, tenant, answer.json()["request_id"]) == "succeeded"
    found = sandbox.api("GET", f"/v1/devices/devices/keys/{box['key_device_id']}/status", token=tenant.token).json()
    assert [unit["lock"] for unit in found["units_status"]] == ["unlock"] * 2 + ["lock"] * 8
    for targets in (["1"], ["01", "01"], ["99"], None):
        wrong = UNLOCK | {"targets": targets}
        answer = sandbox.api("POST", path, wrong, token=tenant.token, licence=tenant.licence_key)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "40002")
