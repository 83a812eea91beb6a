"""Notifications as a receiver on the loopback gets them: as the document describes, once each, in order, soon."""

import hashlib
import hmac
import time
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from tests.support.effort import SOAK
from tests.support.receiver import Post, Receiver
from tests.support.sandbox import Sandbox, SandboxTenant
from tests.support.sandbox_building import House
from tests.support.waiting import until

CATEGORIES = ["normal", "suspicious", "emergency"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def told(house: House, receiver: Receiver) -> House:
    """Return a tenant whose records are sent to the receiver, with a member who has a card."""
    house.member(card_data="CARD1")
    hook(house.sandbox, house.tenant, receiver.url)
    return house


def hook(sandbox: Sandbox, tenant: SandboxTenant, url: str, **changes: Any) -> None:
    wanted = changes.pop("categories", CATEGORIES)
    categories = [sandbox.addresses.catalogue.records.service_category(each) for each in wanted]
    settings = {"is_invalid": False, "url": url, "trigger": {"history": {"category": categories}}} | changes
    assert sandbox.api("PUT", "/v1/tenant/webhook", settings, token=tenant.token).status_code == 200


def said(house: House, post: Post) -> dict[str, Any]:
    """Return a notification's data, by the published names; a category by the sandbox's internal name."""
    words = house.sandbox.addresses.catalogue
    told = dict(next(words.webhook.read_records(post.json())))
    usual = {words.records.service_category(each): each for each in type(words.records)().categories}
    return told | {"category": usual[told["category"]]}


def described(schema: dict[str, Any], at: str = "") -> set[str]:
    """Yield the paths of all fields in a schema."""
    if not schema.get("properties"):
        return {at}
    return {path for name, inner in schema["properties"].items() for path in described(inner, f"{at}.{name}")}


def paths(value: Any, known: set[str], at: str = "") -> set[str]:
    """Yield the paths of all fields in a body, but none inside a known field."""
    if at in known or not isinstance(value, dict):
        return {at}
    return {path for name, inner in value.items() for path in paths(inner, known, f"{at}.{name}")}


def deliveries(house: House) -> list[dict[str, Any]]:
    return list(house.sandbox.look("deliveries", tenant_id=house.tenant.tenant_id)["deliveries"])


def settled(house: House, count: int) -> list[dict[str, Any]]:
    """Return the deliveries once `count` were tried."""
    until(lambda: sum(one["sent_at"] is not None for one in deliveries(house)) >= count)
    return deliveries(house)


def test_a_notification_looks_as_the_document_says(told: House, receiver: Receiver) -> None:
    hook(told.sandbox, told.tenant, receiver.url, secret_token="whisper")
    outcome = told.show("card", "CARD1")
    (post,) = receiver.wait(1)
    assert post.path == "/hook"
    assert post.headers["Content-Type"] == "application/json"
    assert post.headers["User-Agent"] == "Splats-Webhook"
    document = told.sandbox.api("GET", "/openapi.json").json()
    names = [each["name"] for each in document["webhooks"]["history"]["post"]["parameters"]]
    identifier, signature = [post.headers[name] for name in names]
    assert signature == hmac.new(b"whisper", post.body, hashlib.sha256).hexdigest()
    assert len(identifier) == 36
    schema = document["components"]["schemas"]["WebhookMessage"]
    assert paths(post.json(), described(schema)) == described(schema)
    assert jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(post.json())
    body, record = said(told, post), told.last()
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
    # The promised time when the machine is quiet; more if it is busy with other tests.
    assert post.at - shown < (0.5 if SOAK else 10)


def test_without_a_secret_there_is_no_signature(told: House, receiver: Receiver) -> None:
    told.show("card", "CARD1")
    (post,) = receiver.wait(1)
    assert told.sandbox.addresses.catalogue.webhook.signature_header not in post.headers


def test_only_what_the_settings_want_is_told(told: House, receiver: Receiver) -> None:
    told.sandbox.console("devices", tenant_id=told.tenant.tenant_id, device_id=told.box, has_power=False)
    hook(told.sandbox, told.tenant, receiver.url, is_invalid=True)
    told.show("card", "CARD1")
    hook(told.sandbox, told.tenant, "")
    told.show("card", "CARD1")
    hook(told.sandbox, told.tenant, receiver.url, categories=["suspicious"])
    told.show("card", "CARD1")
    told.show("card", "NOBODYS")
    (post,) = receiver.wait(1)
    assert said(told, post)["category"] == "suspicious"
    assert len(deliveries(told)) == 1


def test_notifications_come_in_order_and_once(told: House, receiver: Receiver) -> None:
    shown = [told.show("card", "CARD1")["history"]["history_id"] for _ in range(30)]
    posts = receiver.wait(30)
    assert [said(told, post)["history_id"] for post in posts] == shown
    identifier = told.sandbox.addresses.catalogue.webhook.id_header
    assert len({post.headers[identifier] for post in posts}) == 30
    settled(told, 30)
    assert len(receiver.posts) == 30


def test_a_command_is_told_of_when_it_was_carried_out(told: House, receiver: Receiver) -> None:
    told.sandbox.settings(told.tenant.tenant_id, device_seconds=3600)
    hook(told.sandbox, told.tenant, receiver.url, categories=["operation"])
    command = {"tag": "lock_operation", "control": "unlock"}
    other = told.areas[1]["devices_list"][0]["device_id"]
    for door, seconds in ((told.door, 3600), (other, 0)):
        told.sandbox.settings(told.tenant.tenant_id, device_seconds=seconds)
        told.call("POST", f"/v1/devices/passes/{door}/requests", command, licence=told.tenant.licence_key)
    assert [said(told, post)["device_id"] for post in receiver.wait(1)] == [other], "the later one is told of first"
    # By the tenant's clock.
    told.move(seconds=3600)
    assert said(told, receiver.wait(2)[1])["category"] == "operation"


def test_a_door_without_connection_tells_late(told: House, receiver: Receiver) -> None:
    lines = {"tenant_id": told.tenant.tenant_id, "device_id": told.door}
    told.sandbox.console("devices", **lines, is_connected=False)
    outcome = told.show("card", "CARD1")
    assert deliveries(told) == []
    told.sandbox.console("devices", **lines, is_connected=True)
    (post,) = receiver.wait(1)
    assert said(told, post)["history_id"] == outcome["history"]["history_id"]


def test_a_key_that_returns_by_itself_is_told_of_without_anybody_looking(told: House, receiver: Receiver) -> None:
    unit = told.free_key()
    told.key("take", unit, "CARD1")
    told.move(seconds=8 * 3600)
    taken, returned = (said(told, post) for post in receiver.wait(2))
    states = told.sandbox.addresses.catalogue.states
    assert [states.key_event_of([each["event_name"]]) for each in (taken, returned)] == ["taken", "returned"]
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
        # Slow receivers take every thread, but only until they are known to be slow.
        (post,) = receiver.wait(1)
        assert post.at - began < (4 if SOAK else 20)
        for other in others:
            knock(told.sandbox, other)
        slow.wait(8)
        began = time.monotonic()
        told.show("card", "CARD1")
        assert receiver.wait(2)[1].at - began < (1 if SOAK else 15)


def knock(sandbox: Sandbox, tenant: SandboxTenant) -> None:
    """Show an unknown card at a door."""
    door = sandbox.doors(tenant.token)[0]["device_id"]
    sandbox.console("present", tenant_id=tenant.tenant_id, device_id=door, kind="card", value="x")


@pytest.fixture(scope="module")
def crowd() -> Iterator[Sandbox]:
    """Start a sandbox of three processes that may write to one more host: another name for this machine."""
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
    assert [said(house, post)["history_id"] for post in receiver.wait(40)] == shown
    settled(house, 40)
    assert len(receiver.posts) == 40
    receiver.seconds = 2.5
    shown += [house.show("card", "CARD1")["history"]["history_id"] for _ in range(5)]
    receiver.wait(41)
    crowd.kill()
    receiver.seconds = 0
    crowd.serve()
    # An interrupted notification is posted again: twice is better than never.
    receiver.wait(46)
    arrived = [said(house, post)["history_id"] for post in receiver.posts]
    assert sorted(set(arrived), key=arrived.index) == shown
