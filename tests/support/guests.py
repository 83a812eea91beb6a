"""Guests of the sandbox as tests create, read and change them through the API."""

from typing import Any

import httpx2

from tests.support.sandbox import Sandbox, SandboxTenant

START, END = "2035-12-01T09:00:00+09:00", "2035-12-02T18:00:00+09:00"
SHOWN = {
    "guest_id", "guest_name", "email", "use_date_start", "use_date_end", "key_return_date_end", "qrcode_data",
    "devices_pass", "keys_pass", "remarks", "is_for_reserve",
}  # fmt: skip
ALWAYS = {"effect": "allow_all"}


def body(**fields: Any) -> dict[str, Any]:
    whole = {
        "guest_name": "来客 一郎",
        "use_date_start": START,
        "use_date_end": END,
        "qrcode_issuing_method": {"email": "guest@example.com"},
    }
    return {name: value for name, value in (whole | fields).items() if value is not ...}


def create(sandbox: Sandbox, tenant: SandboxTenant, **fields: Any) -> httpx2.Response:
    return sandbox.api("POST", "/v1/guests", body(**fields), token=tenant.token)


def created(sandbox: Sandbox, tenant: SandboxTenant, **fields: Any) -> str:
    answer = create(sandbox, tenant, **fields)
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == {"guest_id", "guest_name"}
    return str(answer.json()["guest_id"])


def read(sandbox: Sandbox, tenant: SandboxTenant, guest_id: str) -> dict[str, Any]:
    answer = sandbox.api("GET", f"/v1/guests/{guest_id}", token=tenant.token)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def update(sandbox: Sandbox, tenant: SandboxTenant, guest_id: str, **change: Any) -> httpx2.Response:
    return sandbox.api("PUT", f"/v1/guests/{guest_id}", change, token=tenant.token)


def listed(sandbox: Sandbox, tenant: SandboxTenant, **query: str) -> list[dict[str, Any]]:
    return list(sandbox.api("GET", "/v1/guests", params=query, token=tenant.token).json()["guests"])


def areas(sandbox: Sandbox, tenant: SandboxTenant) -> list[str]:
    return [area["area_id"] for area in sandbox.api("GET", "/v1/areas", token=tenant.token).json()["areas"]]


def boxes(sandbox: Sandbox, tenant: SandboxTenant) -> list[str]:
    found = sandbox.api("GET", "/v1/devices/keys", token=tenant.token).json()["key_devices"]
    return [box["key_device_id"] for box in found]


def rights(area_ids: list[str], keys: dict[str, list[str]]) -> dict[str, Any]:
    """Return devices_pass and keys_pass of a person who has access to these areas and keys."""
    entries = [{"area_id": area_id, "pass": ALWAYS} for area_id in area_ids]
    devices = [
        {
            "key_device_id": box,
            "default_mode": "option",
            "units": [{"unit_no": unit_no, "pass": ALWAYS} for unit_no in units],
        }
        for box, units in keys.items()
    ]
    nothing = {"default_mode": "deny_all"}
    return {
        "devices_pass": {"default_mode": "option", "areas_list": entries} if entries else nothing,
        "keys_pass": {"default_mode": "option", "key_devices_list": devices} if devices else nothing,
    }


def key_list(keys: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [{"key_device_id": box, "units_no_list": units} for box, units in keys.items()]


def refused(answer: httpx2.Response, status: int, code: str, field: str = "") -> None:
    assert (answer.status_code, answer.json()["error_code"]) == (status, code), answer.text
    assert field in answer.json()["error_detail"]
