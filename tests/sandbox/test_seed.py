"""Deterministic data."""

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
