"""A signed notification with any content is accepted as a hint, and does not stop others."""

import gzip
import json
from datetime import timedelta

import pytest

from portal.base.timers.clock import database_now
from portal.domain.history.models import History
from portal.webhooks import processing
from portal.webhooks.models import Notification
from tenants.scope import tenant_scope
from tests.support.extremes import BODIES, VALUES, objects
from tests.support.hooks import Hook, notification

FIELDS = ("history_id", "datetime", "event_name", "status", "category", "device_id", "device_name", "additional_info")
MORE = ("tenant_id", "event", "device_module", "member", "units", "unheard_of")


def shown(hook: Hook) -> set[str]:
    """Return the text of the notified events while the log cannot be read."""
    with tenant_scope(hook.tenant):
        Notification.objects.update(received_at=database_now() - timedelta(minutes=10))
        processing.process_pending()
        return set(History.objects.values_list("history_id", flat=True))


@pytest.mark.parametrize("fields", [FIELDS, pytest.param((*FIELDS, *MORE), marks=pytest.mark.soak)], ids=["few", "all"])
def test_a_bad_notification_is_a_hint_and_blocks_none_of_the_others(hook, post, process, fields):
    before, after = notification("before"), notification("after")
    assert post(before) == 204
    bad = [each.encode() for each in objects(notification(), fields)]
    statuses = {post(body) for body in (*bad, *BODIES)}
    assert post(after) == 204
    process.flush()
    assert statuses == {204}
    with tenant_scope(hook.tenant):
        told = Notification.objects
        assert told.filter(history_id__in=["before", "after"]).exclude(body={}).count() == 2
        assert told.filter(history_id__startswith="sha256 ", body={}).count() >= len(BODIES) - 3
        assert all(each is None or 1900 <= each.year <= 9998 for each in told.values_list("at", flat=True))
    for _ in range(6):  # so many are shown at once
        names = shown(hook)
    assert {"before", "after"} <= names


@pytest.mark.parametrize("body", BODIES, ids=lambda body: f"{body[:12]!r} {len(body)}")
def test_what_was_not_signed_is_not_read(hook, post, body):
    assert post(body, headers={}) == 401


@pytest.mark.parametrize("value", VALUES[:4])
def test_a_signed_record_is_shown_on_pages_whatever_its_moment(place, hook, post, process, value):
    post(objects(notification("odd", device_name="Odd door"), ("datetime",), (value,))[0].encode())
    process.flush()
    assert "odd" in shown(hook)
    client = place.client()
    for page in ("", "logs/", "logs/records/odd/", "logs/?period=30d", "connection/"):
        assert client.get(f"/t/{place.tenant.slug}/{page}").status_code == 200, page


OTHER_TIMES = [timedelta(days=1), timedelta(hours=2), timedelta(days=27_000), timedelta(days=-366), timedelta(days=-40)]


@pytest.mark.parametrize("ahead", OTHER_TIMES, ids=str)
def test_a_record_of_another_time_is_shown_on_no_page_until_the_log_has_it(place, hook, post, process, ahead):
    for _ in range(5):  # sent again and again
        assert post(notification("odd", at=database_now() + ahead, device_name="Odd door")) == 204
    assert post(notification("now", device_name="Other door")) == 204
    process.flush()
    assert shown(hook) == {"now"}
    client = place.client()
    for page in ("", "logs/", "logs/?period=30d", "devices/", "devices/wall/"):
        answer = client.get(f"/t/{place.tenant.slug}/{page}", follow=True).content.decode()
        assert "Odd door" not in answer, page
    assert "Other door" in client.get(f"/t/{place.tenant.slug}/logs/").content.decode()


@pytest.mark.parametrize("ahead", [timedelta(minutes=5), timedelta(days=-3)], ids=str)
def test_a_clock_that_is_minutes_ahead_and_a_device_that_is_days_late_are_shown(hook, post, process, ahead):
    post(notification("odd", at=database_now() + ahead))
    process.flush()
    assert shown(hook) == {"odd"}


def told(hook: Hook) -> dict[str, dict]:
    with tenant_scope(hook.tenant):
        return dict(Notification.objects.values_list("history_id", "body"))


TWO = [{"history_id": "one", "event_name": "入室"}, {"history_id": "two", "event_name": "退室"}]
LISTS = {
    "a list": (lambda found: found, ""),
    "a list in an object": (lambda found: {"records": found}, '[webhook]\nrecord = "records"'),
    "objects in a list": (lambda found: [{"log": each} for each in found], '[webhook]\nrecord = "log"'),
    "a list far inside": (lambda found: {"a": [{"b": found}]}, '[webhook]\nrecord = "a.b"'),
}


@pytest.mark.parametrize("how", LISTS)
def test_each_record_of_a_list_in_one_notification_is_told(make, post, process, how):
    around, overrides = LISTS[how]
    hook = Hook(make(overrides=overrides).tenant)
    assert post(around(TWO), by=hook) == 204
    process.flush()
    assert told(hook).keys() == {"one", "two"}


def test_a_list_with_what_names_no_record_is_a_hint_beside_the_others(hook, post, process):
    post([*TWO, {"ping": True}, 5, None])
    process.flush()
    found = told(hook)
    assert [body for name, body in found.items() if name.startswith("sha256 ")] == [{}]
    assert {"one", "two"} < found.keys()


def test_a_list_without_end_is_read_to_its_bound(hook, post, process):
    post([{"history_id": f"h-{number}"} for number in range(1_500)])
    process.flush()
    assert len(told(hook)) == 1_000 + 1, "of the rest the log tells"


@pytest.mark.parametrize("how", ["gzip", "shift_jis", "utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_a_body_packed_or_in_another_encoding_is_read(hook, post, process, how):
    text = json.dumps(notification("odd", device_name="倉庫 入口"), ensure_ascii=False)
    raw = gzip.compress(text.encode()) if how == "gzip" else text.encode(how)
    assert post(raw) == 204
    process.flush()
    assert told(hook)["odd"]["device_name"] == "倉庫 入口"


@pytest.mark.parametrize(
    "raw",
    [gzip.compress(b"x" * 50_000_000), b"\x1f\x8b", b"\x1f\x8b\x08" + bytes(90), gzip.compress(b"{}")[:-9], b"\x81"],
    ids=["far too long", "a beginning", "broken", "cut off", "half a letter"],
)
def test_a_body_that_cannot_be_unpacked_is_a_hint(hook, post, process, raw):
    assert post(raw) == 204
    process.flush()
    assert list(told(hook).values()) == [{}]


def test_a_category_that_is_a_list_and_a_number_for_an_id_are_no_obstacle(hook, post, process):
    post(notification() | {"history_id": 7, "category": ["normal", "warning"]})
    process.flush()
    assert shown(hook) == {"7"}


@pytest.mark.parametrize("said", [1_764_208_464_000, 1_764_208_464, "1764208464", "2025-11-27T01:54:24Z"])
def test_a_moment_is_read_in_any_usual_form(hook, post, process, said):
    post(notification("timed", datetime=said))
    process.flush()
    with tenant_scope(hook.tenant):
        assert Notification.objects.get().at.isoformat() == "2025-11-27T01:54:24+00:00"
