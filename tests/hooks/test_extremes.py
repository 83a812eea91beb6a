"""Whatever a notification holds, one that is signed is taken as a hint, and it keeps nothing of the others."""

from datetime import timedelta

import pytest

from portal.core.mirror.models import History
from portal.core.timers.clock import database_now
from portal.hooks import hints
from portal.hooks.models import Notification
from tenants.scope import tenant_scope
from tests.support.extremes import BODIES, VALUES, objects
from tests.support.hooks import Hook, notification

FIELDS = ("history_id", "datetime", "event_name", "status", "category", "device_id", "device_name", "additional_info")
MORE = ("tenant_id", "event", "device_module", "member", "units", "unheard_of")


def shown(hook: Hook) -> set[str]:
    """The log cannot be read: what was told stands in for it."""
    with tenant_scope(hook.tenant):
        Notification.objects.update(received_at=database_now() - timedelta(minutes=10))
        hints.look()
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
