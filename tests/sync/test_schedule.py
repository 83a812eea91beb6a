"""When data is loaded, who may request more, and what pages show about it."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from portal.base.timers.celery_app import app
from portal.domain.events import SYNCED_KINDS, MirrorKind
from portal.domain.sync import freshness, long_lists, schedule, tasks
from portal.domain.sync.models import MirrorState
from tenants.connections.oauth_grant import connected
from tenants.models import Connection, ServiceEnvironment, Tenant
from tenants.scope import across_tenants, tenant_scope
from tests.support.customers import Customer, MakeCustomer


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the tenants for which a worker was notified."""
    bells: list[int] = []
    monkeypatch.setattr(
        "portal.base.timers.celery_app.enqueue", lambda _task, rows, **_more: bells.extend(sum(rows, ()))
    )
    return bells


def test_connecting_a_tenant_reads_everything(
    customer: MakeCustomer, rung: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    here = customer(members=3)
    with tenant_scope(here.tenant), django_capture_on_commit_callbacks(execute=True):
        connected.send(sender=None, connection=here.connection, first=True)
    assert rung == [here.tenant.pk]
    here.work()
    known = freshness.freshness_of(here.tenant)
    assert all(known[kind].as_of for kind in SYNCED_KINDS)
    assert known[MirrorKind.MEMBERS].total == 3
    with tenant_scope(here.tenant):
        assert MirrorState.objects.get(kind=MirrorKind.MEMBERS).due_at is not None


def test_the_tick_rings_once_for_what_is_due_and_again_when_nobody_came(
    customer: MakeCustomer, rung: list[int]
) -> None:
    here = customer()
    here.sync()
    rung.clear()
    assert tasks.check_due() == 0
    here.due_now(MirrorKind.AREAS)
    assert [tasks.check_due(), tasks.check_due()] == [1, 0]
    with tenant_scope(here.tenant):
        MirrorState.objects.update(woken_at=timezone.now() - timedelta(minutes=2))
    assert tasks.check_due() == 1
    assert rung == [here.tenant.pk] * 2


def test_a_tenant_without_connection_is_left_alone(customer: MakeCustomer, rung: list[int]) -> None:
    here = customer(members=1)
    with tenant_scope(here.tenant):
        Connection.objects.update(state="revoked")
    here.sync()
    assert tasks.check_due() == 0
    assert here.calls(3) == 0


def test_asking_again_at_once_is_asking_once(customer: MakeCustomer, rung: list[int]) -> None:
    here = customer()
    here.sync()
    assert schedule.request_reading(here.tenant, MirrorKind.MEMBERS, by=None) is False
    with tenant_scope(here.tenant):
        MirrorState.objects.update(as_of=timezone.now() - timedelta(minutes=1))
    assert schedule.request_reading(here.tenant, MirrorKind.MEMBERS, by=None) is True
    assert here.state(MirrorKind.MEMBERS).due_at <= timezone.now()


def test_progress_of_a_long_reading_is_told(customer: MakeCustomer, monkeypatch: pytest.MonkeyPatch) -> None:
    here: Customer = customer(members=1500)
    monkeypatch.setattr(long_lists, "SLICE_SECONDS", -1)
    here.sync()
    running = freshness.freshness_of(here.tenant)[MirrorKind.MEMBERS].progress
    assert running is not None
    assert (running.done, running.expected, running.percent) == (1000, 1500, 66)


def test_an_error_is_told_in_words(customer: MakeCustomer) -> None:
    here = customer()
    with tenant_scope(here.tenant):
        here.connection.access_token = "nobody-knows-this"
        here.connection.save()
    here.sync()
    told = freshness.freshness_of(here.tenant)[MirrorKind.GROUPS]
    assert (told.error, told.as_of) == ("token_refused", None)
    assert "Reconnect" in told.sentence


def test_hundreds_of_due_tenants_are_rung_with_a_handful_of_queries(
    db: None, django_assert_max_num_queries: Any
) -> None:
    environment = ServiceEnvironment.objects.create(name="e", base_url="http://127.0.0.1:1", client_secret="s")
    tenants = Tenant.objects.bulk_create(
        # Other tests of this run share the broker, and notify workers for other tenants, with other numbers.
        Tenant(pk=10**6 + number, slug=f"t{number}", name="T", colour="blue", environment=environment)
        for number in range(300)
    )
    with across_tenants("the test makes rows for many tenants"):
        Connection.objects_across_tenants.bulk_create(Connection(tenant=each, state="connected") for each in tenants)
        MirrorState.objects_across_tenants.bulk_create(
            MirrorState(tenant=each, kind=kind, due_at=timezone.now()) for each in tenants for kind in SYNCED_KINDS
        )
    with django_assert_max_num_queries(5):
        assert tasks.check_due() == 300
    with app.connection_for_write() as broker:
        rung = [told["body"] for told in map(json.loads, broker.default_channel.client.lrange("sync", 0, -1))]
        broker.default_channel.client.delete("sync")
    asked = [json.loads(base64.b64decode(body))[0] for body in rung]
    assert sorted(args for args in asked if 10**6 <= args[0] < 2 * 10**6) == [[each.pk] for each in tenants]
