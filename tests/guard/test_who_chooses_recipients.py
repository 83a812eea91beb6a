"""Who chooses the recipients of alerts: managers, among people who may see alerts; each change is recorded."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.domain import events
from portal.domain.alerts.models import DetectionState
from portal.domain.events import MirrorKind
from portal.domain.notifications import actions
from portal.domain.notifications.models import OutgoingMessage, WebAddress
from tenants.models import AuditEntry, Staff
from tenants.scope import tenant_scope
from tests.support.log import happened, loaded, record
from tests.support.members import said


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        DetectionState.objects.create(tenant=place.tenant, since=timezone.now() - timedelta(days=1))
    loaded(place)
    return place


@pytest.fixture
def manager(one):
    return one.client(one.owner)


def at(place, name, *more):
    return reverse(f"alerts:{name}", args=[place.tenant.slug, *more])


def add(place, client, path, **more):
    url = f"https://chat.example.test/{path}"
    told = {"name": "Guards’ room", "url": url, "shape": "text", "least": "3", "language": "en"}
    return client.post(at(place, "addresses"), told | more)


@pytest.mark.parametrize("role", ["receptionist", "reviewer"])
def test_who_may_see_no_alerts_cannot_be_chosen(one, manager, role):
    chosen = {"people": [str(one.staff(role).pk)]}
    assert "Recipients not saved." in said(manager.post(at(one, "recipients", "forced"), chosen, follow=True))
    chosen = {"roles": [role]}
    assert "Recipients not saved." in said(manager.post(at(one, "recipients", "forced"), chosen, follow=True))


def test_a_guard_chooses_for_themselves_alone(one):
    guard = one.client(one.staff("guard"))
    assert guard.post(at(one, "recipients", "forced"), {"roles": ["guard"]}).status_code == 403


def test_who_is_no_longer_active_is_not_written_down(one):
    with tenant_scope(one.tenant):
        Staff.objects.filter(user=one.staff("guard")).update(is_active=False)
    moment = timezone.now() - timedelta(minutes=1)
    rows = happened(one, record(moment, category="suspicious", content="forced_open", device_id="D2"))
    with tenant_scope(one.tenant):
        events.publish(MirrorKind.HISTORIES, one.tenant, histories=rows)
        assert [each.user for each in OutgoingMessage.objects.select_related("user")] == [one.owner]


def test_a_changed_choice_of_recipients_is_written_down(one, manager):
    manager.post(at(one, "recipients", "forced"), {"roles": ["guard"]})
    with tenant_scope(one.tenant):
        entry = AuditEntry.objects.get(action="alert_rule.notify")
    assert entry.after == {"roles": ["guard"], "people": []}


def test_web_addresses_are_so_many_at_most_and_each_act_is_written_down(one, manager, monkeypatch):
    monkeypatch.setattr(actions, "MAX_ADDRESSES", 1)
    add(one, manager, "x")
    page = said(add(one, manager, "y", name="Second"))
    assert "Not added: the name is in use, or the limit (1) is reached." in page
    with tenant_scope(one.tenant):
        row = WebAddress.objects.get()
    for act in ("try", "renew", "remove"):
        manager.post(at(one, f"address_{act}", row.pk))
    with tenant_scope(one.tenant):
        trail = AuditEntry.objects.filter(target=f"alert_address:{row.pk}").order_by("pk")
        done = [each.action.removeprefix("alert_address.") for each in trail]
    assert done == ["add", "test", "renew", "remove"]
