"""A guard opens an alert: the page shows its door, cameras, floor plan, people around the time and similar alerts."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from portal.domain import events
from portal.domain.alerts.models import Alert, DetectionState
from portal.domain.cameras.models import Camera
from portal.domain.events import MirrorKind
from portal.domain.intents.models import Intent
from portal.domain.places.models import PassController
from portal.plans.models import FloorPlan, Placement
from tenants.scope import tenant_scope
from tests.support.doors import real_doors, shows
from tests.support.log import area, happened, loaded, record
from tests.support.members import said


@pytest.fixture
def door(place):
    """Return the ID of a door that exists at the service."""
    first = real_doors(place)[0]
    with tenant_scope(place.tenant):
        DetectionState.objects.create(tenant=place.tenant, since=timezone.now() - timedelta(days=60))
        PassController.objects.filter(device_id=first).update(device_name="倉庫 入口")
    loaded(place)
    return first


@pytest.fixture
def guard(place, door):
    return place.client(place.staff("guard"))


def forced(place, door, minutes_ago=2.0):
    moment = timezone.now() - timedelta(minutes=minutes_ago)
    about = {"device_id": door, "device_name": "倉庫 入口", "category": "suspicious", "content": "forced_open"}
    rows = happened(place, record(moment, **about))
    with tenant_scope(place.tenant):
        events.publish(MirrorKind.HISTORIES, place.tenant, histories=rows)
        return Alert.objects.filter(kind="forced").latest("pk")


def page_of(place, alert):
    return reverse("alerts:alert", args=[place.tenant.slug, alert.pk])


class TestItsDoor:
    def test_a_guard_goes_from_the_alert_and_the_door_to_the_lockdown_of_its_area(self, place, door, guard):
        area(place, "Warehouse", **{door: "in"})
        alert = forced(place, door)
        for page in (page_of(place, alert), reverse("devices:door", args=[place.tenant.slug, door])):
            link = re.search(r'href="([^"]*lockdown/new/[^"]*)"', guard.get(page).content.decode())[1]
            html = guard.get(unescape(link)).content.decode()
            assert "lockdown-preview" in html
            assert 'name="scope" value="area"' in html

    def test_a_guard_sees_its_state_and_operates_it_without_leaving_the_alert(self, place, door, guard):
        alert = forced(place, door)
        page = guard.get(page_of(place, alert))
        assert 'id="door-state"' in page.content.decode()
        nonce = re.search(r'name="nonce" value="([^"]+)"', page.content.decode())[1]
        command = reverse("devices:command", args=[place.tenant.slug, door])
        answer = guard.post(command, {"control": "lock", "nonce": nonce, "alert": alert.pk})
        assert answer["Location"].startswith(page_of(place, alert))
        with tenant_scope(place.tenant):
            assert Intent.objects.get().path == {"device_id": door}
        assert "outcome" in guard.get(page_of(place, alert)).content.decode()

    def test_the_sentence_is_in_the_past_as_soon_as_the_door_is_in_another_state(self, place, door, guard):
        alert = forced(place, door)
        assert "倉庫 入口 has been forced open." in said(guard.get(page_of(place, alert)))
        shows(place, door)
        for page in (page_of(place, alert), reverse("alerts:index", args=[place.tenant.slug])):
            words = said(guard.get(page))
            assert "倉庫 入口 was forced open." in words
            assert "has been forced open" not in words
            assert "Ongoing" not in words

    def test_who_may_not_operate_doors_gets_no_commands(self, place, door):
        html = place.client(place.staff("auditor")).get(page_of(place, forced(place, door))).content.decode()
        assert 'id="door-state"' in html
        assert 'name="control"' not in html

    def test_an_alert_without_a_door_has_none(self, place, door, guard):
        with tenant_scope(place.tenant):
            now = timezone.now()
            values = {"severity": 3, "weight": 3, "began_at": now, "last_at": now}
            alert = Alert.objects.create(kind="connection", subject="connection", **values)
        assert 'id="door-state"' not in guard.get(page_of(place, alert)).content.decode()


class TestItsCameras:
    @pytest.fixture
    def camera(self, place, door):
        theirs = place.sandbox.look("cameras", tenant_id=place.service.tenant_id)["cameras"]
        with tenant_scope(place.tenant):
            return Camera.objects.create(camera_id=theirs[0]["camera_id"], name="倉庫カメラ", doors=[door])

    def test_a_picture_from_before_and_after_is_loaded_only_on_request(self, place, door, guard, camera):
        alert = forced(place, door)
        html = guard.get(page_of(place, alert)).content.decode()
        assert html.count("Load picture (1 device API call)") == 2
        assert place.calls(30) == []
        moment = re.search(r'name="at" value="([^"]+)"', html)[1]
        load = reverse("cameras:picture_at", args=[place.tenant.slug, camera.camera_id])
        answer = guard.post(load, {"at": moment, "alert": alert.pk})
        assert answer["Location"] == page_of(place, alert) + "#alert-cameras"
        html = guard.get(page_of(place, alert)).content.decode()
        assert html.count("Load picture (1 device API call)") == 1
        assert len(place.calls(30)) == 1
        source = re.search(r'<img src="([^"]+)" alt="Before', html)[1]
        assert guard.get(source).content.startswith(b"\xff\xd8\xff")

    def test_a_picture_of_the_future_is_not_offered(self, place, door, guard, camera):
        html = guard.get(page_of(place, forced(place, door, minutes_ago=0))).content.decode()
        assert html.count("Load picture (1 device API call)") == 1

    def test_who_may_not_view_recordings_sees_the_camera_alone(self, place, door, camera):
        html = place.client(place.staff("auditor")).get(page_of(place, forced(place, door))).content.decode()
        assert "Load picture" not in html


def test_the_floor_plan_marks_the_door(place, door, guard):
    alert = forced(place, door)
    assert "plan-found" not in guard.get(page_of(place, alert)).content.decode()
    with tenant_scope(place.tenant):
        plan = FloorPlan.objects.create(name="1F", content=b"", mark="m", width=800, height=400, by=place.owner)
        Placement.objects.create(plan=plan, kind="door", identifier=door, x=500, y=500)
    html = guard.get(page_of(place, alert)).content.decode()
    assert 'class="plan-found" cx="500.0" cy="250.0"' in html or 'class="plan-found" cx="500" cy="250.0"' in html


class TestPeopleAroundTheTime:
    def test_those_of_ten_minutes_at_this_door_are_listed_in_order(self, place, door):
        alert = forced(place, door, minutes_ago=20)
        for name, minutes, where in (
            ("佐藤 花子", 22, door),
            ("鈴木 一郎", 17, door),
            ("高橋 美咲", 26, door),
            ("田中 太郎", 14, door),
            ("伊藤 誠", 20, "D-other"),
        ):
            moment = timezone.now() - timedelta(minutes=minutes)
            happened(place, record(moment, device_id=where, member_id=f"m-{minutes}", member_name=name))
        page = said(place.client(place.staff("facility manager")).get(page_of(place, alert)))
        assert page.index("佐藤 花子") < page.index("鈴木 一郎")
        for other in ("高橋 美咲", "田中 太郎", "伊藤 誠"):
            assert other not in page

    def test_a_guard_sees_nobody_of_yesterday(self, place, door, guard):
        alert = forced(place, door, minutes_ago=60 * 26)
        moment = alert.began_at + timedelta(minutes=1)
        happened(place, record(moment, device_id=door, member_id="m-1", member_name="佐藤 花子"))
        assert "佐藤 花子" not in said(guard.get(page_of(place, alert)))


class TestSimilarAlerts:
    def test_those_of_the_same_door_within_thirty_days_are_listed(self, place, door, guard):
        found = []
        for where, minutes_ago in ((door, 60 * 24 * 31), (door, 60 * 24 * 2), ("D-other", 60)):
            found.append(forced(place, where, minutes_ago))
            with tenant_scope(place.tenant):
                Alert.objects.update(ended_at=F("began_at"), closed_at=timezone.now(), closed_by=place.owner)
        old, earlier, other = found
        html = guard.get(page_of(place, forced(place, door))).content.decode()
        similar = html.partition('id="alert-similar"')[2].partition("</section>")[0]
        assert page_of(place, earlier) in similar
        for each in (old, other):
            assert page_of(place, each) not in similar


class TestItsTimeline:
    def test_notes_are_in_the_order_of_time(self, place, door, guard):
        alert = forced(place, door)
        for text in ("On my way", "Door shut again"):
            guard.post(reverse("alerts:note", args=[place.tenant.slug, alert.pk]), {"text": text})
        page = said(guard.get(page_of(place, alert)))
        assert page.index("On my way") < page.index("Door shut again")

    def test_assignments_and_the_closing_are_among_the_notes(self, place, door, guard):
        alert = forced(place, door)
        steps = [
            ("take", {}),
            ("note", {"text": "On my way"}),
            ("give_back", {}),
            ("take", {}),
            ("close", {"text": "Shut"}),
        ]
        for name, values in steps:
            guard.post(reverse(f"alerts:{name}", args=[place.tenant.slug, alert.pk]), values)
        html = guard.get(page_of(place, alert)).content.decode()
        timeline = html.partition('id="alert-timeline"')[2].partition("</ol>")[0]
        words = ("Began", "Assigned to", "On my way", "Unassigned by", "Assigned to", "Closed by")
        at = -1
        for word in words:
            assert (at := timeline.find(word, at + 1)) >= 0, word

    def test_an_open_page_follows_a_new_assignment(self, place, door, guard):
        alert = forced(place, door)
        versions = []
        for name in ("take", "give_back", "take"):
            guard.post(reverse(f"alerts:{name}", args=[place.tenant.slug, alert.pk]))
            html = guard.get(page_of(place, alert)).content.decode()
            versions.append(re.search(r'id="alert-now"[^>]* data-version="([^"]+)"', html)[1])
        assert len(set(versions)) == 3
