"""Where the specification leaves something open, a tenant of the sandbox can use each other choice."""

from typing import Any

import pytest

from tests.support.images import jpeg
from tests.support.sandbox import Sandbox
from tests.support.sandbox_building import House, wire


@pytest.fixture
def house(sandbox: Sandbox) -> House:
    return House(sandbox, sandbox.tenant(members=3))


def choose(house: House, **choices: Any) -> None:
    house.sandbox.settings(house.tenant.tenant_id, **choices)


def test_a_use_may_not_be_empty(house: House) -> None:
    at = wire(house.now())
    guest = house.guest("CODE", use_date_start=at, use_date_end=at)
    choose(house, empty_periods=False)
    answer = house.sandbox.api(
        "PUT", f"/v1/guests/{guest}", {"use_date_start": at, "use_date_end": at}, token=house.tenant.token
    )
    assert (answer.status_code, answer.json()["error_code"]) == (400, "40002")


def test_one_time_codes_change_at_least_so_often(house: House) -> None:
    choose(house, timestep_max=3600)
    code = {"data": "D", "one_time_qr": {"enabled": True, "timestep": 3601, "skew": 0}}
    body = {"member_name": "山田", "membergroup_id": house.group, "qrcode": code}
    answer = house.sandbox.api("POST", "/v1/members", body, token=house.tenant.token)
    assert (answer.status_code, "3600" in answer.json()["error_detail"]) == (400, True)


def test_a_face_is_deleted_once_and_without_a_word(house: House) -> None:
    choose(house, face_seconds=0, absent_faces_deleted=False, mute_deletions=True)
    path = f"/v1/members/{house.member()}/face_image"
    house.sandbox.api("PUT", path, content=jpeg(), token=house.tenant.token)
    answers = [house.sandbox.api("DELETE", path, token=house.tenant.token) for _ in range(2)]
    assert [(answer.status_code, bool(answer.content)) for answer in answers] == [(204, False), (404, True)]


def test_all_calls_of_a_window_come_back_at_once(house: House) -> None:
    house.sandbox.console("clock", tenant_id=house.tenant.tenant_id, seconds=7200)  # past the calls made so far
    choose(house, general_limit=3, fixed_windows=True)

    def look() -> tuple[int, str]:
        answer = house.sandbox.api("GET", "/v1/areas", token=house.tenant.token)
        return answer.status_code, answer.headers["X-Rate-Limit-Remaining"]

    assert look() == (200, "2")
    house.move(seconds=3580)
    assert [look(), look()] == [(200, "1"), (200, "0")]
    refused = house.sandbox.api("GET", "/v1/areas", token=house.tenant.token)
    assert refused.status_code == 429
    assert 15 <= int(refused.headers["X-Rate-Limit-Reset"]) <= 20
    house.move(seconds=21)
    assert [look() for _ in range(3)] == [(200, "2"), (200, "1"), (200, "0")]


def test_what_a_log_says_may_stand_elsewhere(house: House) -> None:
    house.show("card", "NOBODY")
    said = house.last()["_content"]
    choose(house, words_in_label=True)
    assert said
    assert (house.last()["_content"], house.last()["member"]["label"]) == ("", said)
