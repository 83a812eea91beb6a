"""Simulated people who move around automatically, and the records with which a tenant starts."""

from datetime import datetime, timedelta
from typing import Any

from tests.support.receiver import Receiver
from tests.support.sandbox import Sandbox
from tests.support.sandbox_building import House
from tests.support.waiting import until


def records(house: House) -> list[dict[str, Any]]:
    return list(house.sandbox.look("histories", tenant_id=house.tenant.tenant_id)["histories"])


def test_nobody_moves_unless_asked_to(house: House) -> None:
    before = len(records(house))
    house.move(seconds=3 * 86400)
    house.sandbox.api("GET", "/v1/histories", token=house.tenant.token)
    assert len(records(house)) == before


def test_people_come_and_go_as_often_as_asked(sandbox: Sandbox) -> None:
    house = House(sandbox, sandbox.tenant(members=40))
    before = len(records(house))
    house.sandbox.settings(house.tenant.tenant_id, passages_per_hour=30)
    # The last hour is created at once, and no more than that after a longer pause.
    _settled(house, before + 15)
    house.move(seconds=86400)
    until(lambda: datetime.fromisoformat(records(house)[-1]["datetime"]) > house.now() - timedelta(hours=1))
    _settled(house, before + 30)
    house.sandbox.settings(house.tenant.tenant_id, passages_per_hour=0)
    lived, now = records(house)[before:], house.now()
    assert len(lived) < 75
    moments = [datetime.fromisoformat(one["datetime"]) for one in lived]
    # Keys that were not returned are returned in between.
    came = [moment for moment, one in zip(moments, lived, strict=True) if one["_content"] != "Key returned"]
    ages = [now - moment for moment in came]
    assert all(age < timedelta(hours=1.1) or timedelta(hours=23.9) < age < timedelta(hours=25.1) for age in ages)
    assert {one["category"] for one in lived} >= {"normal"}
    assert any(one["device"]["module"] == "key" for one in lived)


def _settled(house: House, least: int) -> None:
    until(lambda: len(records(house)) >= least, saying=lambda: f"{len(records(house))} of {least} records")


def test_the_webhook_tells_of_them(sandbox: Sandbox) -> None:
    with Receiver() as receiver:
        house = House(sandbox, sandbox.tenant(members=10))
        trigger = {"history": {"category": ["normal", "warning", "suspicious"]}}
        settings = {"is_invalid": False, "url": receiver.url, "trigger": trigger}
        house.call("PUT", "/v1/tenant/webhook", settings)
        house.sandbox.settings(house.tenant.tenant_id, passages_per_hour=3600)
        receiver.wait(3)
        house.sandbox.settings(house.tenant.tenant_id, passages_per_hour=0)
        told = [post.json()["history_id"] for post in receiver.wait(3)]
        assert set(told) <= {one["history_id"] for one in records(house)}


def test_a_new_house_remembers_the_last_month(sandbox: Sandbox) -> None:
    house = House(sandbox, sandbox.tenant(members=100))
    now = house.now()
    remembered = house.histories()
    assert 190 <= len(remembered) <= 210
    moments = [datetime.fromisoformat(one["datetime"]) for one in remembered]
    assert moments == sorted(moments, reverse=True)
    assert now - timedelta(days=38) < moments[-1] < moments[0] <= now
    working = sum(moment.weekday() < 5 for moment in moments)
    assert working > 0.8 * len(moments)
    assert {one["category"] for one in remembered} == {"normal", "suspicious", "warning", "operation"}
    assert {one["member"]["_type"] for one in remembered} == {"member", "guest", "unknown", ""}
    # All people in the records exist, and were let in where they have access.
    members = house.get("/v1/members", params={"limit": 1000})["members"]
    names = {member["member_id"]: member["member_name"] for member in members}
    for one in remembered:
        if one["member"]["_type"] == "member":
            assert names[one["member"]["id"]] == one["member"]["name"]


def test_an_empty_house_remembers_nothing(sandbox: Sandbox) -> None:
    tenant = sandbox.tenant()
    assert sandbox.api("GET", "/v1/histories", token=tenant.token).json() == {"histories": []}


def test_the_same_seed_gives_the_same_memories(sandbox: Sandbox) -> None:
    houses = [sandbox.tenant(members=20, name="Twin", seed="7") for _ in range(2)]

    def remembered(token: str) -> list[Any]:
        found = sandbox.api("GET", "/v1/histories?limit=1000", token=token).json()["histories"]
        return [(one["_content"], one["member"]["name"], one["device"]["name"]) for one in found]

    assert remembered(houses[0].token) == remembered(houses[1].token) != []
