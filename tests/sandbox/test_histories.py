"""Operation 23: records of events, by moment, page by page."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.sandbox_building import House, wire

FIELDS = {"history_id", "datetime", "status", "category", "_content", "member", "device"}


@pytest.fixture
def begun(house: House) -> str:
    """Create a member with a card. Return the moment after which all records belong to the test."""
    house.member(card_data="CARD1")
    house.move(seconds=3600)
    return wire(house.now())


def pages(house: House, **query: Any) -> list[list[str]]:
    """Return the identifiers of every page."""
    found, key = [], {}
    while True:
        answer = house.get("/v1/histories", params=query | key)
        found.append([record["history_id"] for record in answer["histories"]])
        if "last_evaluated_key" not in answer:
            return found
        key = {"last_evaluated_key": answer["last_evaluated_key"]}


def refusal(house: House, **query: Any) -> str:
    answer = house.sandbox.api("GET", "/v1/histories", token=house.tenant.token, params=query)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "40002"), answer.text
    return str(answer.json()["error_detail"])


def test_a_record_has_the_default_fields_and_texts_throughout(house: House, begun: str) -> None:
    house.show("card", "CARD1")
    house.sandbox.console("doors", tenant_id=house.tenant.tenant_id, device_id=house.door, action="force")
    forced, entered = house.histories(since=begun)
    assert set(forced) == set(entered) == FIELDS
    for record in (forced, entered):
        assert set(record["member"]) == {"id", "name", "_type", "data", "label", "attribute"}
        assert all(isinstance(value, str) for value in record["member"].values())
        assert set(record["device"]) == {"id", "name", "module", "units"}
    assert forced["member"]["id"] == ""


def test_fields_choose_what_is_shown(house: House, begun: str) -> None:
    house.show("card", "CARD1")
    (record,) = house.histories(since=begun, fields="category,datetime")
    assert set(record) == {"history_id", "category", "datetime"}
    assert "secret" in refusal(house, fields="category,secret")


def test_the_camera_at_the_door_is_shown_where_fields_names_it(house: House, begun: str) -> None:
    house.show("card", "CARD1")
    (plain,) = house.histories(since=begun)
    (record,) = house.histories(since=begun, fields="device,camera_id")
    assert "camera_id" not in plain
    assert isinstance(record["camera_id"], str)


def test_pages_hold_every_record_once_in_either_order(house: House, begun: str) -> None:
    # Four at one moment: they are sorted by identifier.
    moment = datetime.fromisoformat(begun) - timedelta(minutes=10)
    since = wire(moment - timedelta(seconds=1))
    for at in [moment] * 4 + [moment + timedelta(seconds=number) for number in range(1, 4)]:
        house.show("card", "CARD1", at=at.isoformat())
    whole = [record["history_id"] for record in house.histories(since=since, sort="asc")]
    assert len(whole) == 7
    for size in (1, 2, 3, 7):
        forth = pages(house, since=since, sort="asc", limit=size)
        assert [one for page in forth for one in page] == whole
        assert max(map(len, forth)) == size
        back = pages(house, since=since, limit=size)
        assert [one for page in back for one in page] == whole[::-1]


def test_new_records_do_not_move_the_pages(house: House, begun: str) -> None:
    for _ in range(3):
        house.show("card", "CARD1")
    first = house.get("/v1/histories", params={"since": begun, "limit": 2})
    house.show("card", "CARD1")
    key = {"last_evaluated_key": first["last_evaluated_key"]}
    second = house.get("/v1/histories", params={"since": begun, "limit": 2} | key)
    assert len(second["histories"]) == 1
    assert "last_evaluated_key" not in second
    shown = {record["history_id"] for record in first["histories"] + second["histories"]}
    assert len(shown) == 3


def test_bounds_are_inclusive_by_the_second(house: House, begun: str) -> None:
    base = datetime.fromisoformat(begun) - timedelta(minutes=10)
    for number in range(3):
        house.show("card", "CARD1", at=(base + timedelta(seconds=number, milliseconds=600)).isoformat())
    bounds = {"since": wire(base + timedelta(seconds=1)), "until": wire(base + timedelta(seconds=1))}
    assert [record["datetime"] for record in house.histories(**bounds)] == [bounds["since"]]
    assert len(house.histories(since=wire(base), until=wire(base + timedelta(seconds=2)))) == 3
    assert house.histories(since=wire(base + timedelta(seconds=2)), until=wire(base)) == []
    for extreme in ("0001-01-01T00:00:00+09:00", "9999-12-31T23:59:59+09:00"):
        house.histories(since=extreme, limit=1)
        house.histories(until=extreme, limit=1)


def test_offset_skips_the_first_records_once(house: House, begun: str) -> None:
    for _ in range(5):
        house.show("card", "CARD1")
    whole = [record["history_id"] for record in house.histories(since=begun)]
    found = pages(house, since=begun, offset=2, limit=2)
    assert found == [whole[2:4], whole[4:]]
    assert house.histories(since=begun, offset=5) == []


def test_a_key_continues_its_own_query_only(house: House, begun: str) -> None:
    for _ in range(3):
        house.show("card", "CARD1")
    query = {"since": begun, "limit": 1}
    key = house.get("/v1/histories", params=query)["last_evaluated_key"]
    assert "last_evaluated_key" in refusal(house, **query, sort="asc", last_evaluated_key=key)
    assert "last_evaluated_key" in refusal(house, since=begun, limit=2, last_evaluated_key=key)
    assert "last_evaluated_key" in refusal(house, **query, last_evaluated_key=key + "x")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"offset": "1001"}, "offset"),
        ({"offset": "-1"}, "offset"),
        ({"sort": "up"}, "sort"),
        ({"since": "yesterday"}, "since"),
        ({"until": "2026-11-01T00:00:00"}, "until"),
        ({"until": "2026-11-01T00:00:00 09:00"}, "until"),
        ({"category": "normal"}, "category"),
    ],
)
def test_a_query_beyond_the_specification_is_refused(house: House, query: dict[str, str], field: str) -> None:
    assert refusal(house, **query).startswith(field)


def test_records_are_kept_for_a_year(house: House, begun: str) -> None:
    told = house.show("card", "CARD1")
    house.move(seconds=364 * 86400)
    assert told["history"]["history_id"] in {record["history_id"] for record in house.histories(since=begun)}
    house.move(seconds=2 * 86400)
    assert house.histories(since=begun) == []


def test_a_remote_command_is_told_of_when_it_was_carried_out(house: House, begun: str) -> None:
    house.sandbox.settings(house.tenant.tenant_id, device_seconds=30)
    command = {"tag": "lock_operation", "control": "unlock", "info": "受付より"}
    path = f"/v1/devices/passes/{house.door}/requests"
    request_id = house.call("POST", path, command, licence=house.tenant.licence_key)["request_id"]
    assert house.histories(since=begun) == []
    house.move(seconds=31)
    (record,) = house.histories(since=begun)
    assert (record["category"], record["status"]) == ("operation", "occur")
    assert all(part in record["_content"] for part in ("unlock", "succeeded", "受付より", request_id))
    assert record["device"]["id"] == house.door


def test_a_remote_command_that_failed_is_told_of_too(house: House, begun: str) -> None:
    command = {"tag": "lock_operation", "control": "unlock", "targets": ["01", "02"]}
    path = f"/v1/devices/keys/{house.far_box}/requests"
    house.call("POST", path, command, licence=house.tenant.licence_key)
    (record,) = house.histories(since=begun)
    assert "failed" in record["_content"]
    assert [unit["unit_no"] for unit in record["device"]["units"]] == ["01", "02"]


def test_histories_of_another_tenant_are_not_seen(house: House, begun: str) -> None:
    house.show("card", "CARD1")
    other = house.sandbox.tenant()
    found = house.sandbox.api("GET", "/v1/histories", token=other.token, params={"since": begun}).json()
    assert found["histories"] == []
