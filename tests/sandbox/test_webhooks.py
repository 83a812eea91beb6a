"""Notifications as a receiver on the loopback gets them: the published request, once each, in order, soon."""

import hashlib
import hmac
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.dwelling import House
from tests.support.effort import SOAK
from tests.support.receiver import Receiver
from tests.support.sandbox import Sandbox, SandboxTenant
from tests.support.waiting import until

CATEGORIES = ["normal", "suspicious", "emergency"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def told(house: House, receiver: Receiver) -> House:
    """A house whose records go to the receiver; a member with a card is there."""
    house.member(card_data="CARD1")
    hook(house.sandbox, house.tenant, receiver.url)
    return house


def hook(sandbox: Sandbox, tenant: SandboxTenant, url: str, **changes: Any) -> None:
    settings = {"is_invalid": False, "url": url, "trigger": {"history": {"category": CATEGORIES}}} | changes
    assert sandbox.api("PUT", "/v1/tenant/webhook", settings, token=tenant.token).status_code == 200


def deliveries(house: House) -> list[dict[str, Any]]:
    return list(house.sandbox.look("deliveries", tenant_id=house.tenant.tenant_id)["deliveries"])


def settled(house: House, count: int) -> list[dict[str, Any]]:
    """The deliveries once `count` were tried."""
    until(lambda: sum(one["sent_at"] is not None for one in deliveries(house)) >= count)
    return deliveries(house)


def test_a_notification_looks_as_published(told: House, receiver: Receiver) -> None:
    hook(told.sandbox, told.tenant, receiver.url, secret_token="whisper")
    outcome = told.show("card", "CARD1")
    (post,) = receiver.wait(1)
    assert post.path == "/hook"
    assert post.headers["Content-Type"] == "application/json"
    assert post.headers["User-Agent"] == "Splats-Webhook"
    assert post.headers["X-Splats-Signature"] == hmac.new(b"whisper", post.body, hashlib.sha256).hexdigest()
    assert len(post.headers["X-Splats-ID"]) == 36
    body = post.json()
    assert set(body) == {
        "history_id", "tenant_id", "datetime", "event", "event_name", "status", "category",
        "device_id", "device_name", "device_module", "additional_info",
    }  # fmt: skip
    record = told.last()
    assert body["history_id"] == record["history_id"] == outcome["history"]["history_id"]
    assert (body["datetime"], body["category"], body["status"]) == (record["datetime"], "normal", "occur")
    assert (body["tenant_id"], body["device_id"]) == (told.tenant.tenant_id, told.door)
    assert isinstance(body["additional_info"], dict)
    (delivery,) = settled(told, 1)
    assert (delivery["status"], delivery["error"]) == (200, None)


@pytest.mark.share
def test_a_notification_leaves_within_half_a_second(told: House, receiver: Receiver) -> None:
    told.show("card", "CARD1")
    shown = time.monotonic()
    (post,) = receiver.wait(1)
    # Quietly the promise itself; otherwise the machine may be busy with other tests.
    assert post.at - shown < (0.5 if SOAK else 10)


def test_without_a_secret_there_is_no_signature(told: House, receiver: Receiver) -> None:
    told.show("card", "CARD1")
    (post,) = receiver.wait(1)
    assert "X-Splats-Signature" not in post.headers


def test_only_what_the_settings_want_is_told(told: House, receiver: Receiver) -> None:
    told.sandbox.console("devices", tenant_id=told.tenant.tenant_id, device_id=told.box, has_power=False)
    hook(told.sandbox, told.tenant, receiver.url, is_invalid=True)
    told.show("card", "CARD1")
    hook(told.sandbox, told.tenant, "")
    told.show("card", "CARD1")
    hook(told.sandbox, told.tenant, receiver.url, trigger={"history": {"category": ["suspicious"]}})
    told.show("card", "CARD1")
    told.show("card", "NOBODYS")
    (post,) = receiver.wait(1)
    assert post.json()["category"] == "suspicious"
    assert len(deliveries(told)) == 1


def test_notifications_come_in_order_and_once(told: House, receiver: Receiver) -> None:
    shown = [told.show("card", "CARD1")["history"]["history_id"] for _ in range(30)]
    posts = receiver.wait(30)
    assert [post.json()["history_id"] for post in posts] == shown
    assert len({post.headers["X-Splats-ID"] for post in posts}) == 30
    settled(told, 30)
    assert len(receiver.posts) == 30


def test_a_command_is_told_of_when_it_was_carried_out(told: House, receiver: Receiver) -> None:
    told.sandbox.settings(told.tenant.tenant_id, device_seconds=3600)
    hook(told.sandbox, told.tenant, receiver.url, trigger={"history": {"category": ["operation"]}})
    command = {"tag": "lock_operation", "control": "unlock"}
    other = told.areas[1]["devices_list"][0]["device_id"]
    for door, seconds in ((told.door, 3600), (other, 0)):
        told.sandbox.settings(told.tenant.tenant_id, device_seconds=seconds)
        told.call("POST", f"/v1/devices/passes/{door}/requests", command, licence=told.tenant.licence_key)
    assert [post.json()["device_id"] for post in receiver.wait(1)] == [other], "the later one is told of first"
    # By the clock of the tenant.
    told.move(seconds=3600)
    assert receiver.wait(2)[1].json()["category"] == "operation"


def test_a_door_without_connection_tells_late(told: House, receiver: Receiver) -> None:
    lines = {"tenant_id": told.tenant.tenant_id, "device_id": told.door}
    told.sandbox.console("devices", **lines, is_connected=False)
    outcome = told.show("card", "CARD1")
    assert deliveries(told) == []
    told.sandbox.console("devices", **lines, is_connected=True)
    (post,) = receiver.wait(1)
    assert post.json()["history_id"] == outcome["history"]["history_id"]


def test_a_key_that_returns_by_itself_is_told_of_without_anybody_looking(told: House, receiver: Receiver) -> None:
    unit = told.free_key()
    told.key("take", unit, "CARD1")
    told.move(seconds=8 * 3600)
    taken, returned = (post.json() for post in receiver.wait(2))
    assert (taken["event_name"], returned["event_name"]) == ("Key taken", "Key returned")
    assert returned["additional_info"]["units"] == taken["additional_info"]["units"]


def test_nothing_is_posted_again(told: House, receiver: Receiver) -> None:
    receiver.status = 500
    told.show("card", "CARD1")
    (delivery,) = settled(told, 1)
    assert delivery["status"] == 500
    told.show("card", "CARD1")
    assert len(settled(told, 2)) == len(receiver.posts) == 2


@pytest.mark.parametrize(
    "url",
    [
        "http://hook.example/",
        "http://127.0.0.1@hook.example/",
        "http://192.0.2.1/",
        "http://0.0.0.0/",
        "http://localhost.hook.example/",
        "ftp://127.0.0.1/",
        "//127.0.0.1/",
        "http://[::1",
        "not an address",
    ],
)
def test_nothing_leaves_this_machine(told: House, url: str) -> None:
    hook(told.sandbox, told.tenant, url)
    told.show("card", "CARD1")
    (delivery,) = settled(told, 1)
    assert delivery["status"] is None
    assert delivery["error"]


def test_nobody_there_is_noted(told: House, receiver: Receiver) -> None:
    hook(told.sandbox, told.tenant, "http://127.0.0.1:9/hook")
    told.show("card", "CARD1")
    (delivery,) = settled(told, 1)
    assert "ConnectError" in delivery["error"]


@pytest.mark.share
def test_a_slow_receiver_holds_up_nobody_else(told: House, receiver: Receiver) -> None:
    with Receiver(seconds=2.5) as slow:
        others = [told.sandbox.tenant(members=1) for _ in range(6)]
        for other in others:
            hook(told.sandbox, other, slow.url)
            knock(told.sandbox, other)
        slow.wait(6)
        began = time.monotonic()
        told.show("card", "CARD1")
        # They hold every thread for the quick ones, but only until they are known to be slow.
        (post,) = receiver.wait(1)
        assert post.at - began < (4 if SOAK else 20)
        for other in others:
            knock(told.sandbox, other)
        slow.wait(8)
        began = time.monotonic()
        told.show("card", "CARD1")
        assert receiver.wait(2)[1].at - began < (1 if SOAK else 15)


def knock(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    """Somebody unknown shows a card at a door."""
    found = sandbox.api("GET", "/v1/devices/passes", token=tenant.token).json()
    door = found["devices"][0]["device_id"]
    sandbox.console("present", tenant_id=tenant.tenant_id, device_id=door, kind="card", value="x")


@pytest.fixture(scope="module")
def crowd() -> Iterator[Sandbox]:
    """A sandbox of three processes that may write to one more host: another name for this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SANDBOX_WEBHOOK_HOSTS", "hook.example, 0.0.0.0")
        with Sandbox(workers=3) as running:
            yield running


def test_a_host_that_is_named_is_written_to(crowd: Sandbox, receiver: Receiver) -> None:
    tenant = crowd.tenant(members=1)
    hook(crowd, tenant, receiver.url.replace("127.0.0.1", "0.0.0.0"))
    knock(crowd, tenant)
    receiver.wait(1)


@pytest.mark.attack
def test_several_processes_post_once_and_a_dead_one_loses_nothing(crowd: Sandbox, receiver: Receiver) -> None:
    house = House(crowd, crowd.tenant(members=1))
    house.member(card_data="CARD1")
    hook(crowd, house.tenant, receiver.url)
    shown = [house.show("card", "CARD1")["history"]["history_id"] for _ in range(40)]
    assert [post.json()["history_id"] for post in receiver.wait(40)] == shown
    settled(house, 40)
    assert len(receiver.posts) == 40
    receiver.seconds = 2.5
    shown += [house.show("card", "CARD1")["history"]["history_id"] for _ in range(5)]
    receiver.wait(41)
    crowd.kill()
    receiver.seconds = 0
    crowd.serve()
    # The one that was under way is posted again: better twice than never.
    receiver.wait(46)
    arrived = [post.json()["history_id"] for post in receiver.posts]
    assert sorted(set(arrived), key=arrived.index) == shown
