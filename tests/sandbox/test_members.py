"""Members and groups: accepted and refused values, answers and pages."""

from typing import Any

import httpx2
import pytest

from tests.support.sandbox import Sandbox, SandboxTenant

ALL_DAY = {
    "mode": "weekly",
    "start": {"time": "00:00:00+09:00"},
    "end": {"time": "23:59:59+09:00"},
    "week": ["*"],
}


def groups(sandbox: Sandbox, tenant: SandboxTenant) -> list[dict[str, Any]]:
    return list(sandbox.api("GET", "/v1/membergroups?limit=1000", token=tenant.token).json()["membergroups"])


def body(sandbox: Sandbox, tenant: SandboxTenant, **fields: Any) -> dict[str, Any]:
    group = groups(sandbox, tenant)[0]["membergroup_id"]
    return {"member_name": "山田 花子", "membergroup_id": group} | fields


def create(sandbox: Sandbox, tenant: SandboxTenant, **fields: Any) -> httpx2.Response:
    return sandbox.api("POST", "/v1/members", body(sandbox, tenant, **fields), token=tenant.token)


def read(sandbox: Sandbox, tenant: SandboxTenant, member_id: str) -> dict[str, Any]:
    return dict(sandbox.api("GET", f"/v1/members/{member_id}", token=tenant.token).json())


def refused(answer: httpx2.Response, status: int, code: str, field: str = "") -> None:
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"message", "error_code", "error_detail"}
    assert answer.json()["error_code"] == code
    assert field in answer.json()["error_detail"]


def test_a_member_comes_back_as_it_was_created(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    area = sandbox.api("GET", "/v1/areas", token=tenant.token).json()["areas"][0]["area_id"]
    box = sandbox.api("GET", "/v1/devices/keys", token=tenant.token).json()["key_devices"][0]
    rights = {"effect": "allow", "schedule": [ALL_DAY]}
    units = [{"unit_no": box["units"][0]["unit_no"], "pass": rights}]
    fields = {
        "member_code": "E-9999",
        "card_data": "0123456789ABCDEF",
        "qrcode": {"data": "door", "one_time_qr": {"enabled": True, "timestep": 60, "skew": 1}},
        "use_date_start": "2026-04-01T09:00:00+09:00",
        "use_date_end": "2030-04-01T09:00:00+09:00",
        "devices_pass": {"default_mode": "option", "areas_list": [{"area_id": area, "pass": rights}]},
        "keys_pass": {
            "default_mode": "option",
            "key_devices_list": [{"key_device_id": box["key_device_id"], "default_mode": "option", "units": units}],
        },
        "privilege": {"keys_without_2fa": True, "restricted_keys_enabled": False},
    }
    made = create(sandbox, tenant, **fields)
    assert made.status_code == 200
    assert set(made.json()) == {"member_id", "member_name"}
    found = read(sandbox, tenant, made.json()["member_id"])
    assert len(found["qrcode"]["one_time_qr"].pop("totp_seed")) == 32
    assert {name: found[name] for name in fields} == fields
    assert found["membergroup_name"] == groups(sandbox, tenant)[0]["membergroup_name"]
    assert found["account_type"]


def test_an_update_changes_what_it_names_and_nothing_else(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    made = create(
        sandbox,
        tenant,
        card_data="CARD-1",
        use_date_end="2030-01-01T00:00:00+09:00",
        qrcode={"email": "a@example.com"},
    )
    path = f"/v1/members/{made.json()['member_id']}"
    before = read(sandbox, tenant, made.json()["member_id"])
    change = {"member_name": "Hanako", "use_date_end": None, "qrcode": None}
    assert sandbox.api("PUT", path, change, token=tenant.token).json()["member_name"] == "Hanako"
    after = read(sandbox, tenant, made.json()["member_id"])
    assert after == {name: value for name, value in before.items() if name not in {"use_date_end", "qrcode"}} | {
        "member_name": "Hanako"
    }


def test_rights_that_were_not_given_are_denied(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant(contracts=["door"])
    found = read(sandbox, tenant, create(sandbox, tenant).json()["member_id"])
    assert found["devices_pass"] == {"default_mode": "deny_all"}
    assert "keys_pass" not in found


def test_a_deleted_member_is_gone(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    path = f"/v1/members/{create(sandbox, tenant).json()['member_id']}"
    assert sandbox.api("DELETE", path, token=tenant.token).status_code == 200
    for method in ("GET", "DELETE"):
        refused(sandbox.api(method, path, token=tenant.token), 404, "40401")
    refused(sandbox.api("PUT", path, {"member_name": "x"}, token=tenant.token), 404, "40401")


def test_another_tenants_member_does_not_exist(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    other = sandbox.tenant(members=1)
    foreign = sandbox.api("GET", "/v1/members", token=other.token).json()["members"][0]["member_id"]
    answers = [sandbox.api("GET", f"/v1/members/{it}", token=tenant.token) for it in (foreign, "missing")]
    assert answers[0].text == answers[1].text
    refused(answers[0], 404, "40401")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"member_name": ""}, "member_name"),
        ({"member_name": "あ" * 41}, "member_name"),
        ({"member_name": 7}, "member_name"),
        ({"member_name": "a\0"}, "member_name"),
        ({"member_code": "x" * 21}, "member_code"),
        ({"card_data": "x" * 17}, "card_data"),
        ({"membergroup_id": "missing"}, "membergroup_id"),
        ({"nickname": "x"}, "nickname"),
        ({"qrcode": {"data": "x", "email": "y@example.com"}}, "qrcode"),
        ({"use_date_start": "2026-04-01"}, "use_date_start"),
        ({"use_date_start": "2026-04-01T00:00:00Z"}, "use_date_start"),
        (
            {"use_date_start": "2026-04-02T00:00:00+09:00", "use_date_end": "2026-04-01T00:00:00+09:00"},
            "use_date_end",
        ),
        ({"devices_pass": {"default_mode": "some"}}, "devices_pass"),
        (
            {"devices_pass": {"default_mode": "option",
                              "areas_list": [{"area_id": "missing", "pass": {"effect": "deny_all"}}]}},
            "area_id",
        ),
        (
            {"keys_pass": {"default_mode": "option",
                           "key_devices_list": [{"key_device_id": "missing", "default_mode": "deny_all"}]}},
            "key_device_id",
        ),
        ({"privilege": {"keys_without_2fa": "yes"}}, "privilege"),
    ],
)  # fmt: skip
def test_what_the_specification_limits_is_refused_by_name(
    sandbox: Sandbox, tenant: SandboxTenant, fields: dict[str, Any], field: str
) -> None:
    refused(create(sandbox, tenant, **fields), 400, "40002", field)
    before = sandbox.api("GET", "/v1/members?limit=1000", token=tenant.token).json()["members"]
    assert len(before) == 25


def test_a_name_of_forty_characters_is_taken(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    assert create(sandbox, tenant, member_name="𠮷" * 40).status_code == 200


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'"x"', b"\xff", b'{"a": NaN}', b'{"member_name": "a", "member_name": "b"}', b"[" * 9999],
)  # fmt: skip
def test_a_body_that_is_no_object_is_refused(sandbox: Sandbox, tenant: SandboxTenant, content: bytes) -> None:
    answer = sandbox.api("POST", "/v1/members", content=content, token=tenant.token)
    refused(answer, 400, "40002", "body")


def test_a_card_belongs_to_one_member(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    first = create(sandbox, tenant, card_data="SAME").json()["member_id"]
    refused(create(sandbox, tenant, card_data="SAME"), 409, "40901")
    second = create(sandbox, tenant).json()["member_id"]
    again = sandbox.api("PUT", f"/v1/members/{second}", {"card_data": "SAME"}, token=tenant.token)
    refused(again, 409, "40901")
    assert sandbox.api("PUT", f"/v1/members/{first}", {"card_data": "SAME"}, token=tenant.token).status_code == 200
    sandbox.api("PUT", f"/v1/members/{first}", {"card_data": "OTHER"}, token=tenant.token)
    assert sandbox.api("PUT", f"/v1/members/{second}", {"card_data": "SAME"}, token=tenant.token).status_code == 200


@pytest.mark.parametrize(
    ("contracts", "field"),
    [
        ([], {"devices_pass": {"default_mode": "allow_all"}}),
        (["door"], {"keys_pass": {"default_mode": "allow_all"}}),
        (["door", "key_box"], {"qrcode": {"data": "x"}}),
    ],
)
def test_what_needs_a_contract_is_refused_without(
    sandbox: Sandbox, contracts: list[str], field: dict[str, Any]
) -> None:
    tenant = sandbox.tenant(contracts=contracts)
    refused(create(sandbox, tenant, **field), 403, "40302")
    assert create(sandbox, tenant).status_code == 200


def test_the_list_is_paged_whole_without_repetition(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    seen: list[str] = []
    query = {"limit": "10", "fields": "card_data"}
    while True:
        page = sandbox.api("GET", "/v1/members", params=query, token=tenant.token).json()
        seen += [member["member_id"] for member in page["members"]]
        if "last_evaluated_key" not in page:
            break
        query["last_evaluated_key"] = page["last_evaluated_key"]
    assert len(seen) == len(set(seen)) == 25


def test_a_cursor_serves_its_own_query_only(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    page = sandbox.api("GET", "/v1/members?limit=10", token=tenant.token).json()
    cursor = page["last_evaluated_key"]
    other = sandbox.tenant(members=25)
    for query, token in [
        ({"limit": "11"}, tenant.token),
        ({}, tenant.token),
        ({"limit": "10", "fields": "card_data"}, tenant.token),
        ({"limit": "10"}, other.token),
    ]:
        answer = sandbox.api("GET", "/v1/members", params=query | {"last_evaluated_key": cursor}, token=token)
        refused(answer, 400, "40002", "last_evaluated_key")
    answer = sandbox.api(
        "GET", "/v1/membergroups", params={"limit": "10", "last_evaluated_key": cursor}, token=tenant.token
    )
    refused(answer, 400, "40002", "last_evaluated_key")


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=1001", "limit=x", "limit=5&limit=5", "limit=%D9%A1", "search=a", "fields=secret",
              "last_evaluated_key=x", "fields=%00"]
)  # fmt: skip
def test_a_query_beyond_the_specification_is_refused(sandbox: Sandbox, tenant: SandboxTenant, query: str) -> None:
    refused(sandbox.api("GET", f"/v1/members?{query}", token=tenant.token), 400, "40002", query.split("=")[0])


def test_cards_are_listed_when_asked_for(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    plain = sandbox.api("GET", "/v1/members", token=tenant.token).json()["members"]
    cards = sandbox.api("GET", "/v1/members?fields=card_data", token=tenant.token).json()["members"]
    assert not any("card_data" in member for member in plain)
    assert sum("card_data" in member for member in cards) > 15
    assert not any({"devices_pass", "keys_pass", "privilege"} & set(member) for member in cards)


def test_groups_are_created_renamed_and_counted(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    made = sandbox.api("POST", "/v1/membergroups", {"membergroup_name": "新しい組"}, token=tenant.token).json()
    assert set(made) == {"membergroup_id", "membergroup_name"}
    path = f"/v1/membergroups/{made['membergroup_id']}"
    sandbox.api("PUT", path, {"membergroup_name": "Renamed"}, token=tenant.token)
    create(sandbox, tenant, membergroup_id=made["membergroup_id"])
    found = {group["membergroup_id"]: group for group in groups(sandbox, tenant)}
    assert found[made["membergroup_id"]] == {
        "membergroup_id": made["membergroup_id"],
        "membergroup_name": "Renamed",
        "member_count": 1,
    }
    assert sum(group["member_count"] for group in found.values()) == 26
    listed = sandbox.api("GET", "/v1/members", token=tenant.token).json()["members"]
    assert "Renamed" in {member["membergroup_name"] for member in listed}


@pytest.mark.parametrize("name", ["", "x" * 41, None, 3])
def test_a_group_needs_a_name_of_one_to_forty(sandbox: Sandbox, tenant: SandboxTenant, name: Any) -> None:
    answer = sandbox.api("POST", "/v1/membergroups", {"membergroup_name": name}, token=tenant.token)
    refused(answer, 400, "40002", "membergroup_name")
    refused(
        sandbox.api("PUT", "/v1/membergroups/missing", {"membergroup_name": "x"}, token=tenant.token),
        404,
        "40401",
    )
