"""Thousands of tenants without alerts are checked with one statement; only the others are checked one at a time."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.base.timers.clock import database_now
from portal.domain.alerts import detection
from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Alert, DetectionState, Rule, Severity
from portal.domain.budget.models import Gauge
from portal.domain.places.models import DoorState, Key, KeyBox, KeyState, PassController
from portal.evidence.models import Incident, Item
from portal.webhooks.models import Webhook
from tenants.models import Connection, Tenant, User
from tenants.scope import across_tenants, current_tenant_id, tenant_scope

LONG = timedelta(days=2)


@pytest.fixture
def looked_at(monkeypatch):
    """Return the tenants that were checked one at a time."""
    found, look = [], detection.check_tenant

    def noted(kinds=None):
        found.append(current_tenant_id())
        look(kinds)

    monkeypatch.setattr(detection, "check_tenant", noted)
    return found


def make_due():
    with across_tenants("a test lets a minute pass"):
        DetectionState.objects_across_tenants.update(due_at=database_now(), woken_at=None)


def watch_of(place):
    with tenant_scope(place.tenant):
        return DetectionState.objects.get()


def door(state, since=LONG):
    PassController.objects.create(device_id="D1", device_name="倉庫", state=state, state_since=database_now() - since)


def key_out():
    box = KeyBox.objects.create(key_device_id="K1", key_device_name="鍵箱")
    Key.objects.create(key_box=box, unit_no="1", state=KeyState.OUT, since=database_now() - LONG)


def connection_lost():
    Connection.objects.update(state=Connection.State.BROKEN)


def calls_nearly_gone():
    line = Connection.objects.get()
    Gauge.objects.create(
        connection=line, generation=line.token_generation, call_class="general", others=700,
        others_until=database_now() + timedelta(hours=1),
    )  # fmt: skip


def webhook_silent():
    Webhook.objects.create(token="t", token_digest=b"d", working=Webhook.Working.SILENT, working_at=database_now())


def video_to_be_saved():
    by, now = User.objects.first(), database_now()
    incident = Incident.objects.create(number=1, title="x", began_at=now, ended_at=now, opened_by=by)
    Item.objects.create(
        incident=incident, kind=Item.Kind.CLIP, reference="c", at=now, added_by=by, media=Item.Media.FAILED,
        expires_at=now + timedelta(days=3),
    )  # fmt: skip


def alert_going_on():
    now = database_now()
    Alert.objects.create(
        kind="refused", subject="member:M1", severity=Severity.WARNING, weight=2, began_at=now, last_at=now
    )


def kind_behind():
    DetectionState.objects.update(behind={"forced": [1, database_now().isoformat()]})


RESTLESS = {
    "a door forced open": lambda: door(DoorState.FORCED_OPEN),
    "a door left open": lambda: door(DoorState.OPEN),
    "a door offline": lambda: door(DoorState.OFFLINE),
    "a key out": key_out,
    "a lost connection": connection_lost,
    "calls nearly gone": calls_nearly_gone,
    "a silent webhook": webhook_silent,
    "video that is about to be deleted": video_to_be_saved,
    "an alert that goes on": alert_going_on,
    "records that a kind failed at": kind_behind,
}


@pytest.fixture
def watched(place):
    with tenant_scope(place.tenant):
        DetectionState.objects.create(due_at=database_now())
    return place


def test_a_calm_tenant_is_looked_at_together_with_others(watched, looked_at):
    before = database_now()
    detection.check_due()
    watch = watch_of(watched)
    assert looked_at == []
    assert before + detection.INTERVAL <= watch.due_at <= database_now() + detection.INTERVAL
    assert watch.woken_at is None


@pytest.mark.parametrize("so", RESTLESS.values(), ids=list(RESTLESS))
def test_a_tenant_where_something_may_be_found_is_looked_at(watched, looked_at, so):
    with tenant_scope(watched.tenant):
        so()
    detection.check_due()
    assert looked_at == [watched.tenant.pk]
    assert watch_of(watched).due_at > database_now()
    with tenant_scope(watched.tenant):
        assert Alert.objects.exists() != (so is kind_behind)
    detection.check_due()
    assert looked_at == [watched.tenant.pk], "once in a minute is enough"


def test_a_tenant_whose_look_fails_keeps_nobody_else_waiting(watched, make, monkeypatch):
    others = [make() for _ in range(2)]
    for each in others:
        with tenant_scope(each.tenant):
            DetectionState.objects.create(due_at=database_now())
            door(DoorState.OFFLINE)
    with tenant_scope(watched.tenant):
        door(DoorState.OFFLINE)

    def fails_once(tenant):
        monkeypatch.undo()
        raise ValueError

    monkeypatch.setattr(detection, "_lock_watch", fails_once)
    detection.check_due()
    with across_tenants("a test looks at all alerts"):
        assert Alert.objects_across_tenants.count() == 2


def test_what_is_not_long_enough_for_any_rule_is_calm_until_a_rule_is_changed(watched, looked_at):
    with tenant_scope(watched.tenant):
        door(DoorState.OFFLINE, since=timedelta(minutes=10))
    detection.check_due()
    assert looked_at == []
    with tenant_scope(watched.tenant):
        Rule.objects.create(kind="offline", is_on=True, severity=Severity.INFO, values={"minutes": 5, "quiet": 15})
    make_due()
    detection.check_due()
    assert looked_at == [watched.tenant.pk]


def test_what_a_rule_that_is_off_would_find_is_calm(watched, looked_at):
    with tenant_scope(watched.tenant):
        door(DoorState.OFFLINE)
        Rule.objects.create(kind="offline", is_on=False, severity=Severity.INFO, values={})
    detection.check_due()
    assert looked_at == []


def test_a_kind_that_cannot_tell_has_all_tenants_looked_at(watched, looked_at):
    def fails(_values):
        raise ValueError

    with patch.dict(KINDS, offline=KINDS["offline"].__class__(**vars(KINDS["offline"]) | {"tenants_to_check": fails})):
        detection.check_due()
    assert looked_at == [watched.tenant.pk]


def test_fifty_calm_tenants_cost_as_many_statements_as_one(watched, looked_at):
    def looked():
        make_due()
        with CaptureQueriesContext(connection) as asked:
            detection.check_due()
        return len(asked)

    looked()
    alone = looked()
    more = Tenant.objects.bulk_create(
        Tenant(slug=f"calm-{n}", name=f"Calm {n}", environment=watched.tenant.environment) for n in range(49)
    )
    with across_tenants("a test connects its tenants"):
        Connection.objects_across_tenants.bulk_create(
            Connection(tenant=each, environment=each.environment, state=Connection.State.CONNECTED, access_token="t")
            for each in more
        )
    looked()
    assert looked() == alone
    assert looked_at == []
    with across_tenants("a test looks at its tenants"):
        assert DetectionState.objects_across_tenants.filter(due_at__gt=database_now()).count() == 50
