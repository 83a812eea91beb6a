"""A facility manager has several rules of a kind: for some areas, doors and hours. An alert is raised once."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.domain import events
from portal.domain.alerts import detection
from portal.domain.alerts.models import Alert, DetectionState, Rule, Severity
from portal.domain.events import MirrorKind
from portal.domain.notifications.models import OutgoingMessage
from portal.domain.places.models import PassController
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.support.log import area, happened, loaded, record
from tests.support.members import said

LEFT_OPEN = {"is_on": "on", "severity": "3", "minutes": "5", "quiet": "15"}


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        DetectionState.objects.create(tenant=place.tenant, since=timezone.now() - timedelta(days=1))
        for name in ("D1", "D2", "D3"):
            PassController.objects.create(device_id=name, device_name=f"扉 {name}")
    loaded(place)
    return place


def at(place, name="alerts:rules", *more):
    return reverse(name, args=[place.tenant.slug, *more])


def rule(place, kind="left_open", **values):
    usual = {"is_on": True, "severity": Severity.ALARM, "is_added": True}
    with tenant_scope(place.tenant):
        return Rule.objects.create(kind=kind, **usual | values)


def leave_open(place, *doors, minutes):
    since = timezone.now() - timedelta(minutes=minutes)
    with tenant_scope(place.tenant):
        PassController.objects.filter(device_id__in=doors).update(state="left_open", state_since=since)
        detection.check_tenant()


def refuse(place, door, times=3):
    moment = timezone.now()
    about = {"category": "warning", "member_id": "m-1", "device_id": door, "device_name": door}
    rows = happened(place, *(record(moment + timedelta(seconds=number), **about) for number in range(times)))
    with tenant_scope(place.tenant):
        events.publish(MirrorKind.HISTORIES, place.tenant, histories=rows)


def alerts(place, kind="left_open"):
    with tenant_scope(place.tenant):
        return {each.subject.rpartition(":")[2]: each for each in Alert.objects.filter(kind=kind, ended_at=None)}


class TestAdding:
    def test_another_rule_of_a_kind_is_for_chosen_areas_and_doors(self, one, manager):
        area(one, "Lab", D1="in")
        assert "Add rule" in said(manager.get(at(one)))
        form = LEFT_OPEN | {"areas": ["a-Lab"], "doors": ["D2"]}
        assert "Rule added." in said(manager.post(at(one, "alerts:new_rule", "left_open"), form, follow=True))
        assert "Alarm · Lab, 扉 D2 · Always" in said(manager.get(at(one)))
        with tenant_scope(one.tenant):
            added = Rule.objects.get()
            assert (added.is_added, added.areas, added.doors) == (True, ["a-Lab"], ["D2"])
            assert str(AuditEntry.objects.get(action="alert_rule.add").summary) == "Alert rule added: Door left open"

    def test_it_is_changed_and_removed_without_touching_the_others(self, one, manager):
        first, second = rule(one, doors=["D1"]), rule(one, doors=["D2"], severity=Severity.INFO)
        change = at(one, "alerts:added_rule", "left_open", first.pk)
        assert "Rule saved." in said(manager.post(change, LEFT_OPEN | {"doors": ["D1", "D3"]}, follow=True))
        with tenant_scope(one.tenant):
            assert Rule.objects.get(pk=first.pk).doors == ["D1", "D3"]
        owner = one.client(one.owner)
        remove = at(one, "alerts:remove_rule", "left_open", first.pk)
        assert "Rule removed." in said(owner.post(remove, follow=True))
        with tenant_scope(one.tenant):
            assert list(Rule.objects.all()) == [second]

    def test_a_kind_without_doors_has_one_rule(self, one, manager):
        assert manager.get(at(one, "alerts:new_rule", "budget")).status_code == 404
        assert 'name="doors"' not in manager.get(at(one, "alerts:rule", "budget")).content.decode()

    def test_a_rule_of_another_kind_or_tenant_is_not_found(self, one, manager, make):
        elsewhere = rule(make())
        mine = rule(one)
        for kind, pk in (("left_open", elsewhere.pk), ("offline", mine.pk)):
            assert manager.get(at(one, "alerts:added_rule", kind, pk)).status_code == 404

    def test_a_test_counts_the_doors_of_the_rule_alone(self, one, manager):
        loaded(one, days=31)
        moment = timezone.now() - timedelta(days=1)
        for door in ("D1", "D2"):
            happened(one, record(moment, category="emergency", content="forced_open", device_id=door))
        form = {"is_on": "on", "severity": "3", "quiet": "15", "try": "1"}
        new = at(one, "alerts:new_rule", "forced")
        assert "It would have raised 2 alerts." in said(manager.post(new, form))
        assert "It would have raised 1 alert." in said(manager.post(new, form | {"doors": ["D1"]}))


class TestDetecting:
    def test_a_rule_applies_at_its_areas_and_doors_alone(self, one):
        area(one, "Lab", D1="in")
        with tenant_scope(one.tenant):
            Rule.objects.create(kind="left_open", is_on=False, severity=2)
        rule(one, areas=["a-Lab"])
        leave_open(one, "D1", "D2", minutes=10)
        assert list(alerts(one)) == ["D1"]

    def test_two_rules_raise_one_alert_of_the_higher_severity(self, one):
        rule(one, doors=["D1"])
        leave_open(one, "D1", "D2", minutes=10)
        found = alerts(one)
        assert {name: each.severity for name, each in found.items()} == {"D1": 3, "D2": 2}
        leave_open(one, "D1", "D2", minutes=10)
        assert {name: each.times for name, each in alerts(one).items()} == {"D1": 1, "D2": 1}

    def test_an_event_that_two_rules_find_is_one_alert_of_the_higher_severity(self, one):
        rule(one, "suspicious", doors=["D1"])
        for door in ("D1", "D2"):
            rows = happened(one, record(timezone.now(), category="suspicious", content="Odd", device_id=door))
            with tenant_scope(one.tenant):
                events.publish(MirrorKind.HISTORIES, one.tenant, histories=rows)
        found = alerts(one, "suspicious")
        assert {name: (each.severity, each.times) for name, each in found.items()} == {"D1": (3, 1), "D2": (2, 1)}

    def test_an_open_alert_becomes_more_serious_and_those_not_yet_notified_are(self, one):
        guard = one.staff("guard")  # gets mail about alarms unless they chose otherwise
        rule(one, values={"minutes": 30, "quiet": 15})
        leave_open(one, "D1", minutes=10)
        [first] = alerts(one).values()
        with tenant_scope(one.tenant):
            assert not OutgoingMessage.objects.filter(user=guard).exists()
        leave_open(one, "D1", minutes=40)
        leave_open(one, "D1", minutes=40)
        [again] = alerts(one).values()
        assert (again.pk, again.severity, again.weight, again.facts["minutes"]) == (first.pk, 3, 3, 30)
        with tenant_scope(one.tenant):
            assert OutgoingMessage.objects.filter(user=guard, subject=first.pk).count() == 1

    def test_a_rule_outside_its_hours_leaves_the_alert_to_the_other(self, one):
        yesterday = (timezone.localtime().weekday() - 2) % 7
        hours = {"days": [yesterday], "begin": "03:00", "end": "03:01"}
        rule(one, hours=hours)
        leave_open(one, "D1", minutes=10)
        assert [each.severity for each in alerts(one).values()] == [2]

    def test_a_closed_alert_does_not_become_more_serious(self, one):
        leave_open(one, "D1", minutes=10)
        with tenant_scope(one.tenant):
            Alert.objects.update(closed_at=timezone.now(), closed_by=one.owner, weight=0)
        rule(one)
        leave_open(one, "D1", minutes=10)
        assert [(each.severity, each.weight) for each in alerts(one).values()] == [(2, 0)]

    def test_an_alert_ends_when_no_rule_finds_it(self, one):
        rule(one, doors=["D1"])
        leave_open(one, "D1", minutes=10)
        with tenant_scope(one.tenant):
            PassController.objects.update(state="locked", state_since=timezone.now())
            detection.check_tenant()
        assert alerts(one) == {}

    def test_refusals_count_at_the_doors_of_a_rule(self, one):
        rule(one, "refused", doors=["D1"], values={"count": 3, "minutes": 10, "quiet": 15})
        refuse(one, "D2", times=4)
        refuse(one, "D1", times=2)
        [usual] = alerts(one, "refused").values()
        assert usual.severity == 2, "the fifth and sixth refusal count for the default rule alone"
        refuse(one, "D1", times=1)
        [raised] = alerts(one, "refused").values()
        assert (raised.pk, raised.severity) == (usual.pk, 3)

    def test_a_tenant_with_an_added_rule_alone_is_checked(self, one):
        with tenant_scope(one.tenant):
            Rule.objects.create(kind="offline", is_on=False, severity=2)
            since = timezone.now() - timedelta(minutes=8)
            PassController.objects.filter(device_id="D1").update(state="offline", state_since=since)
        rule(one, "offline", doors=["D1"], values={"minutes": 5, "quiet": 15})
        detection.check_due()
        assert list(alerts(one, "offline")) == ["D1"]
