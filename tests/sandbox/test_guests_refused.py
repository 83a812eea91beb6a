"""Guests: refusals because of values, contracts, scopes, settings and other people's codes."""

from typing import Any

import pytest

from tests.support.guests import (
    SHOWN,
    areas,
    body,
    boxes,
    create,
    created,
    key_list,
    listed,
    read,
    refused,
    update,
)
from tests.support.sandbox import Sandbox, SandboxTenant


@pytest.fixture
def tenant(sandbox: Sandbox) -> SandboxTenant:
    """Return a tenant with every contract and no members."""
    return sandbox.tenant(guests=0)


@pytest.mark.parametrize(
    "query", ["fields=qrcode_data", "fields=,", "limit=0", "limit=1001", "search=a", "last_evaluated_key=x"]
)
def test_a_query_beyond_the_specification_is_refused(sandbox: Sandbox, tenant: SandboxTenant, query: str) -> None:
    refused(sandbox.api("GET", f"/v1/guests?{query}", token=tenant.token), 400, "40002", query.split("=")[0])


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"guest_name": ...}, "guest_name"),
        ({"guest_name": ""}, "guest_name"),
        ({"guest_name": "あ" * 41}, "guest_name"),
        ({"use_date_start": ...}, "use_date_start"),
        ({"use_date_end": ...}, "use_date_end"),
        ({"use_date_end": None}, "use_date_end"),
        ({"use_date_end": "2035-11-30T00:00:00+09:00"}, "use_date_end"),
        ({"use_date_start": "0001-01-01T00:00:00+09:00"}, "use_date_start"),
        ({"use_date_start": "2035-12-01T09:00:00Z"}, "use_date_start"),
        ({"qrcode_issuing_method": ...}, "qrcode_issuing_method"),
        ({"qrcode_issuing_method": {}}, "qrcode_issuing_method"),
        ({"qrcode_issuing_method": {"remarks": "x"}}, "qrcode_issuing_method"),
        ({"qrcode_issuing_method": {"email": "a@example.com", "qrcode_data": "x"}}, "qrcode_issuing_method"),
        ({"qrcode_issuing_method": {"qrcode_data": "x" * 558}}, "qrcode_data"),
        ({"qrcode_issuing_method": {"qrcode_data": ""}}, "qrcode_data"),
        ({"qrcode_issuing_method": {"email": "a@example.com", "remarks": "x" * 201}}, "remarks"),
        ({"email": "x" * 255}, "email"),
        ({"return_grace_period": -1}, "return_grace_period"),
        ({"return_grace_period": 10081}, "return_grace_period"),
        ({"is_for_reserve": "yes"}, "is_for_reserve"),
        ({"area_id_list": ["missing"]}, "area_id_list"),
        ({"area_id_list": ["a", "a"]}, "area_id_list"),
        ({"area_id_list": [f"a{number}" for number in range(101)]}, "area_id_list"),
        ({"key_devices_list": [{"key_device_id": "missing", "units_no_list": []}]}, "key_device_id"),
        ({"key_devices_list": [{"key_device_id": "missing", "units_no_list": ["1"]}]}, "units_no_list"),
        ({"key_devices_list": [{"key_device_id": "missing", "units_no_list": []}] * 101}, "key_devices_list"),
        ({"qrcode_data": "x"}, "qrcode_data"),
        ({"remarks": "x"}, "remarks"),
    ],
)
def test_what_the_specification_limits_is_refused_by_name(
    sandbox: Sandbox, tenant: SandboxTenant, fields: dict[str, Any], field: str
) -> None:
    refused(create(sandbox, tenant, **fields), 400, "40002", field)
    assert listed(sandbox, tenant) == []
    assert sandbox.look("mails", tenant_id=tenant.tenant_id)["mails"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"use_date_start": "2035-12-03T00:00:00+09:00"}, "use_date_end"),
        ({"use_date_end": "2035-11-30T00:00:00+09:00"}, "use_date_end"),
        ({"use_date_end": None}, "use_date_end"),
        ({"qrcode_data": "x" * 558}, "qrcode_data"),
        ({"qrcode_data": ""}, "qrcode_data"),
        ({"remarks": "x" * 201}, "remarks"),
        ({"area_id_list": ["missing"]}, "area_id_list"),
        ({"is_for_reserve": True}, "is_for_reserve"),
        ({"qrcode_issuing_method": {"email": "a@example.com"}}, "qrcode_issuing_method"),
    ],
)
def test_a_refused_update_changes_nothing(
    sandbox: Sandbox, tenant: SandboxTenant, change: dict[str, Any], field: str
) -> None:
    guest_id = created(sandbox, tenant)
    before = read(sandbox, tenant, guest_id)
    refused(update(sandbox, tenant, guest_id, guest_name="Change person", **change), 400, "40002", field)
    assert read(sandbox, tenant, guest_id) == before


def test_a_unit_has_to_be_in_its_box(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    keys = key_list({boxes(sandbox, tenant)[0]: ["99"]})
    refused(create(sandbox, tenant, key_devices_list=keys), 400, "40002", "units_no_list")


def test_guest_keys_need_the_setting_of_the_box(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    box = boxes(sandbox, tenant)[0]
    keys = key_list({box: ["01"]})
    sandbox.console("devices", tenant_id=tenant.tenant_id, device_id=box, guest_keys_enabled=False)
    guest_id = created(sandbox, tenant)
    refused(create(sandbox, tenant, key_devices_list=keys), 403, "40304", box)
    refused(update(sandbox, tenant, guest_id, key_devices_list=keys), 403, "40304", box)
    sandbox.console("devices", tenant_id=tenant.tenant_id, device_id=box, guest_keys_enabled=True)
    assert update(sandbox, tenant, guest_id, key_devices_list=keys).status_code == 200


def test_a_code_belongs_to_one_person(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    group = sandbox.api("GET", "/v1/membergroups", token=tenant.token).json()["membergroups"][0]["membergroup_id"]
    member = {"member_name": "x", "membergroup_id": group, "qrcode": {"data": "MEMBER"}}
    assert sandbox.api("POST", "/v1/members", member, token=tenant.token).status_code == 200
    first = created(sandbox, tenant, qrcode_issuing_method={"qrcode_data": "GUEST"})
    second = created(sandbox, tenant)
    for taken in ("MEMBER", "GUEST"):
        refused(create(sandbox, tenant, qrcode_issuing_method={"qrcode_data": taken}), 409, "40903", "QR")
        refused(update(sandbox, tenant, second, qrcode_data=taken), 409, "40903", "QR")
    assert update(sandbox, tenant, first, qrcode_data="GUEST").status_code == 200
    other = sandbox.tenant(guests=0)
    assert create(sandbox, other, qrcode_issuing_method={"qrcode_data": "GUEST"}).status_code == 200


def test_guests_need_the_contract_for_codes(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant(contracts=["door", "key_box"])
    for method, path in [("GET", ""), ("POST", ""), ("GET", "/x"), ("PUT", "/x")]:
        refused(sandbox.api(method, f"/v1/guests{path}", {}, token=tenant.token), 403, "40302", "qr")


def test_areas_and_keys_need_theirs_and_are_shown_with_them(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant(contracts=["qr", "key_box"], guests=0)
    guest_id = created(sandbox, tenant, area_id_list=[])
    refused(update(sandbox, tenant, guest_id, area_id_list=areas(sandbox, tenant)[:1]), 403, "40302", "door")
    assert set(read(sandbox, tenant, guest_id)) == SHOWN - {"devices_pass"}
    without = sandbox.tenant(contracts=["qr", "door"], guests=0)
    keys = key_list({boxes(sandbox, tenant)[0]: ["01"]})
    refused(create(sandbox, without, key_devices_list=keys), 403, "40302", "key_box")
    assert set(read(sandbox, without, created(sandbox, without))) == SHOWN - {"keys_pass"}


def test_guests_need_the_scope(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    guest_id = created(sandbox, tenant)
    for scope, allowed in [("guests:read", {"GET"}), ("guests:write", {"POST", "PUT"}), ("members:read", set())]:
        token = sandbox.token(tenant.tenant_id, scopes=[scope])
        for method, path in [("GET", ""), ("POST", ""), ("GET", f"/{guest_id}"), ("PUT", f"/{guest_id}")]:
            answer = sandbox.api(method, f"/v1/guests{path}", body() if method == "POST" else {}, token=token)
            assert answer.status_code == (200 if method in allowed else 403)


def test_another_tenants_guest_does_not_exist(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    foreign = created(sandbox, sandbox.tenant(guests=0))
    for guest_id in (foreign, "missing", "%00"):
        refused(sandbox.api("GET", f"/v1/guests/{guest_id}", token=tenant.token), 404, "40401")
        refused(sandbox.api("PUT", f"/v1/guests/{guest_id}", {}, token=tenant.token), 404, "40401")
