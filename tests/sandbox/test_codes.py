"""QR codes of members: for one person each, passed on in order, and mailed when the service issues them."""

from typing import Any

import pytest

from tests.support.sandbox import Sandbox, SandboxTenant


@pytest.fixture
def tenant(sandbox: Sandbox) -> SandboxTenant:
    """Return a tenant with every contract and no members, whose bulk requests end at once."""
    tenant = sandbox.tenant(guests=0)
    sandbox.settings(tenant.tenant_id, bulk_seconds_per_member=0)
    return tenant


def body(sandbox: Sandbox, tenant: SandboxTenant, name: str, qrcode: dict[str, Any]) -> dict[str, Any]:
    group = sandbox.api("GET", "/v1/membergroups", token=tenant.token).json()["membergroups"][0]["membergroup_id"]
    return {"member_name": name, "membergroup_id": group, "qrcode": qrcode}


def created(sandbox: Sandbox, tenant: SandboxTenant, qrcode: dict[str, Any]) -> str:
    answer = sandbox.api("POST", "/v1/members", body(sandbox, tenant, "佐藤", qrcode), token=tenant.token)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["member_id"])


def bulk(sandbox: Sandbox, tenant: SandboxTenant, tag: str, members: list[dict[str, Any]]) -> list[str | None]:
    """Return the error codes, in order."""
    answer = sandbox.api("POST", f"/v1/members/bulk/{tag}", {"members": members}, token=tenant.token)
    path = f"/v1/requests/{answer.json()['request_id']}"
    result = sandbox.api("GET", path, token=tenant.token).json()["result"]
    return [item.get("error", {}).get("error_code") for item in result["members"]]


def mails(sandbox: Sandbox, tenant: SandboxTenant) -> list[dict[str, Any]]:
    return list(sandbox.look("mails", tenant_id=tenant.tenant_id)["mails"])


def test_a_members_code_belongs_to_nobody_else(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    first = created(sandbox, tenant, {"data": "CODE"})
    one_time = {"data": "CODE", "one_time_qr": {"enabled": True}}
    for qrcode in ({"data": "CODE"}, one_time):
        answer = sandbox.api("POST", "/v1/members", body(sandbox, tenant, "x", qrcode), token=tenant.token)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "40903")
    assert sandbox.api("PUT", f"/v1/members/{first}", {"qrcode": one_time}, token=tenant.token).status_code == 200
    assert sandbox.api("PUT", f"/v1/members/{first}", {"qrcode": None}, token=tenant.token).status_code == 200
    created(sandbox, tenant, {"data": "CODE"})


def test_members_of_one_request_hand_a_code_on(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    first, second = created(sandbox, tenant, {"data": "A"}), created(sandbox, tenant, {"data": "B"})
    changes = [
        {"member_id": second, "qrcode": {"data": "A"}},
        {"member_id": first, "qrcode": {"data": "C"}},
        {"member_id": second, "qrcode": {"data": "A"}},
    ]
    assert bulk(sandbox, tenant, "update", changes) == ["40903", None, None]
    people = [body(sandbox, tenant, name, {"data": code}) for name, code in [("1", "X"), ("2", "X"), ("3", "A")]]
    assert bulk(sandbox, tenant, "create", people) == [None, "40903", "40903"]


def test_what_is_issued_is_mailed_and_nothing_else(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    created(sandbox, tenant, {"data": "prepared"})
    assert mails(sandbox, tenant) == []
    member_id = created(sandbox, tenant, {"email": "sato@example.com"})
    (first,) = mails(sandbox, tenant)
    assert (first["email"], first["recipient_id"], first["recipient_name"]) == ("sato@example.com", member_id, "佐藤")
    sandbox.api("PUT", f"/v1/members/{member_id}", {"member_name": "Sato"}, token=tenant.token)
    assert mails(sandbox, tenant) == [first]
    sandbox.api("PUT", f"/v1/members/{member_id}", {"qrcode": {"email": "new@example.com"}}, token=tenant.token)
    _, second = mails(sandbox, tenant)
    assert second["email"] == "new@example.com"
    assert first["qr_data"] != second["qr_data"] != ""


def test_a_bulk_request_mails_those_who_succeeded(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    people = [body(sandbox, tenant, str(number), {"email": f"{number}@example.com"}) for number in range(3)]
    people[1]["membergroup_id"] = "missing"
    assert bulk(sandbox, tenant, "create", people) == [None, "40002", None]
    assert [mail["email"] for mail in mails(sandbox, tenant)] == ["0@example.com", "2@example.com"]
