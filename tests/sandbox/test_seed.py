"""Generated data is the same for the same seed."""

import httpx2
import pytest

from tests.support.sandbox import Sandbox


def everybody(sandbox: Sandbox, token: str) -> list[dict[str, object]]:
    return list(sandbox.api("GET", "/v1/members?limit=1000&fields=card_data", token=token).json()["members"])


def test_the_same_seed_gives_the_same_people(sandbox: Sandbox) -> None:
    lines = sandbox.seed(tenants=3, members=40, seed=7).splitlines()
    assert len(lines) == 3
    assert sandbox.seed(tenants=3, members=40, seed=7).splitlines() == lines


def test_people_are_varied(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant(members=600)
    people = everybody(sandbox, tenant.token)
    names = [str(member["member_name"]) for member in people]
    assert len(people) == 600
    assert any(name.isascii() for name in names)
    assert any(not name.isascii() for name in names)
    assert max(map(len, names)) == 40
    assert {member["membergroup_name"] for member in people} >= {"総務部", "Engineering"}
    variants = {tuple(sorted(member.get("qrcode", {}))) for member in people}  # type: ignore[call-overload]
    assert variants == {(), ("data",), ("email",)}
    assert any("use_date_end" in member for member in people)


def test_a_copy_has_the_house_the_people_and_the_past_of_another_tenant(sandbox: Sandbox) -> None:
    first = sandbox.tenant(members=12)
    group = sandbox.api("GET", "/v1/membergroups", token=first.token).json()["membergroups"][0]["membergroup_id"]
    new = {"member_name": "Somebody", "membergroup_id": group}
    assert sandbox.api("POST", "/v1/members", new, token=first.token).is_success
    [copy] = sandbox.copies(first)
    for path in ("/v1/members", "/v1/membergroups", "/v1/guests", "/v1/histories", "/v1/devices/keys", "/v1/cameras"):
        told = [sandbox.api("GET", path, token=each.token).json() for each in (first, copy)]
        assert told[0] == told[1], path
    somebody = next(member for member in everybody(sandbox, copy.token) if member["member_name"] == "Somebody")
    assert sandbox.api("DELETE", f"/v1/members/{somebody['member_id']}", token=copy.token).is_success
    assert len(everybody(sandbox, first.token)) == len(everybody(sandbox, copy.token)) + 1
    assert copy.licence_key != first.licence_key
    assert copy.admin_login != first.admin_login


@pytest.mark.parametrize("client_id", ["", "nobody"])
def test_a_token_is_given_to_no_client_that_does_not_exist(sandbox: Sandbox, client_id: str) -> None:
    wanted = {"tenant_id": sandbox.tenant().tenant_id, "client_id": client_id}
    assert httpx2.post(f"{sandbox.url}/console/api/tokens", json=wanted).status_code == 404
