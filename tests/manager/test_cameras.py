"""A facility manager enters cameras, views their pictures and video, and stays within the period's limits."""

import re
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.urls import reverse
from django.utils import timezone

from accessapi.operations import CallClass
from portal.base.timers.clock import database_now
from portal.base.ui.times import local
from portal.domain.budget.models import Gauge
from portal.domain.cameras import actions, refreshing
from portal.domain.cameras.models import Camera, Picture
from portal.domain.history.models import History
from portal.domain.places.models import PassController
from portal.plans import plan_devices
from tenants.models import AuditEntry, Connection
from tenants.roles import FacilityManager, Permission, Receptionist, Support
from tenants.scope import tenant_scope
from tests.support.members import said

LONG = "東京本社ビル 北館 三階 会議室エリア 西側通用口"


@pytest.fixture
def theirs(place):
    """Return the cameras of the service, by the sandbox's names."""
    return list(place.sandbox.look("cameras", tenant_id=place.service.tenant_id)["cameras"])


@pytest.fixture
def camera(place, theirs):
    with tenant_scope(place.tenant):
        return Camera.objects.create(camera_id=theirs[0]["camera_id"], name="正面玄関")


def at(place, name, *more):
    return reverse(f"cameras:{name}", args=[place.tenant.slug, *more])


def add(client, place, text):
    return client.post(at(place, "new"), {"cameras": text}, follow=True)


def look_at_wall(place, client):
    """Return the text of the wall after the watch has read the visible cameras."""
    client.get(at(place, "index"))
    with tenant_scope(place.tenant):
        refreshing.read_in_sight()
        refreshing.read_in_sight()
    return client.get(at(place, "index"))


def audited(place):
    with tenant_scope(place.tenant):
        return list(
            AuditEntry.objects.filter(action__startswith="camera.").order_by("pk").values_list("action", flat=True)
        )


def test_a_camera_is_asked_for_when_it_is_entered(place, manager, theirs):
    page = add(manager, place, f"{theirs[0]['camera_id']}, 正面玄関")
    assert "1 camera added." in said(page)
    assert len(place.calls(32)) == 1
    assert "正面玄関" in said(manager.get(at(place, "index")))


def test_a_camera_that_the_service_does_not_know_is_refused_with_the_input_kept(place, manager):
    page = add(manager, place, "c999zzzzzz, Garage")
    assert "The camera was not added. The service does not know this ID. Check it on the member site." in said(page)
    assert "c999zzzzzz, Garage" in page.content.decode()
    with tenant_scope(place.tenant):
        assert not Camera.objects.exists()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "Enter the ID of a camera."),
        ("  \n \n", "Enter the ID of a camera."),
        (", name alone", "Line 1 has no ID."),
        ("c1\nc 2, two", "Line 2: an ID has no spaces"),
        ("c1\nc1", "Line 2 repeats the ID of an earlier line."),
        ("c1, " + "名" * 61, "Line 1: a name has at most 60 characters."),
        ("\n".join(f"c{n}" for n in range(201)), "Enter at most 200 cameras at once."),
    ],
)
def test_lines_that_cannot_be_read_are_named(place, manager, text, complaint):
    assert complaint in said(add(manager, place, text))
    with tenant_scope(place.tenant):
        assert not Camera.objects.exists()


def test_a_camera_is_in_the_list_once(place, manager, camera):
    page = add(manager, place, f"{camera.camera_id}\nc2")
    assert f"No cameras were added. Already in the list: {camera.camera_id}. Remove these lines and try again." in said(
        page
    )


def test_the_wall_reads_ten_cameras_in_a_call_and_leaves_out_what_is_missing(place, manager, theirs):
    names = [each["camera_id"] for each in theirs]
    add(manager, place, "\n".join(f"{name}, 番号 {n}" for n, name in enumerate(names)) + "\nc999zzzzzz, Nowhere")
    page = look_at_wall(place, manager)
    with tenant_scope(place.tenant):
        refreshing.read_in_sight()
    assert [call["status"] for call in place.calls(30)] == [404, 200]
    assert len(place.calls(32)) == len(names) + 1
    html = said(manager.get(at(place, "index")))
    assert f"{len(names) + 1} cameras" in html
    assert "1 without a picture" in html
    assert "The service does not know this camera." in html
    source = re.search(r'src="([^"]+/picture/[^"]+)"', manager.get(at(place, "index")).content.decode())[1]
    picture = manager.get(source)
    assert picture["Content-Type"] == "image/jpeg"
    assert picture.content.startswith(b"\xff\xd8\xff")
    assert page.status_code == 200


def test_the_address_of_a_picture_that_was_replaced_leads_to_the_newer_one(place, manager, camera):
    look_at_wall(place, manager)
    source = re.search(r'src="([^"]+/picture/[^"]+)"', manager.get(at(place, "index")).content.decode())[1]
    with tenant_scope(place.tenant):
        Picture.objects.update(mark="newer")
    answer = manager.get(source)
    assert answer.status_code == 302
    assert answer["Location"].endswith("/newer/")
    assert manager.get(answer["Location"]).content.startswith(b"\xff\xd8\xff")
    assert manager.get(source.replace(camera.camera_id, "another")).status_code == 404


def test_the_next_round_waits_until_the_hour_has_room_for_it(place, manager, camera):
    for _ in range(5):
        look_at_wall(place, manager)
    assert len(place.calls(30)) == 1
    with tenant_scope(place.tenant):
        Picture.objects.update(requested_at=database_now() - timedelta(minutes=3))
    look_at_wall(place, manager)
    assert len(place.calls(30)) == 2


def test_twenty_viewers_cost_what_one_does(place, manager, camera):
    for _ in range(20):
        look_at_wall(place, place.client(place.staff("guard")))
    assert len(place.calls(30)) == 1


def test_forty_cameras_cost_four_calls_a_round_and_no_call_of_their_own(place, manager, theirs):
    known = [each["camera_id"] for each in theirs]
    while len(known) < 40:
        asked = {"tenant_id": place.service.tenant_id, "name": f"番号 {len(known)}", "scene": "lobby"}
        known.append(place.sandbox.console("cameras", **asked)["camera_id"])
    place.sandbox.settings(place.service.tenant_id)
    add(manager, place, "\n".join(known))
    look_at_wall(place, manager)
    assert len(place.calls(30)) == 4
    with tenant_scope(place.tenant):
        assert refreshing.round_duration(40, 180) == timedelta(minutes=5, seconds=20)
    without = len(place.calls(32))
    assert without == sum(not each["is_connected"] for each in theirs)


def test_nobody_looking_costs_nothing(place, manager, camera):
    with tenant_scope(place.tenant):
        assert refreshing.read_in_sight() == 0
    assert place.calls(30) == []


def test_an_offline_camera_says_so_and_keeps_its_last_picture(place, manager, camera):
    look_at_wall(place, manager)
    place.sandbox.console("cameras", tenant_id=place.service.tenant_id, camera_id=camera.camera_id, is_connected=False)
    with tenant_scope(place.tenant):
        Picture.objects.update(requested_at=database_now() - timedelta(minutes=3))
        Camera.objects.update(status_at=database_now() - timedelta(hours=1))
    page = look_at_wall(place, manager)
    assert "1 offline" in said(page)
    assert "No picture from the camera." in said(page)
    assert "/picture/" in page.content.decode()


def test_a_camera_is_named_and_tied_to_doors(place, manager, camera):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name=LONG)
    given = {"name": LONG, "doors": ["D1"]}
    page = manager.post(at(place, "edit", camera.camera_id), given, follow=True)
    assert "Camera saved." in said(page)
    assert said(page).count(LONG) > 1
    manager.post(at(place, "remove", camera.camera_id))
    with tenant_scope(place.tenant):
        assert not Camera.objects.exists()
    assert {"camera.edited", "camera.removed"} <= set(audited(place))


def test_a_guard_watches_and_sets_up_nothing(place, camera):
    guard = place.client(place.staff("guard"))
    assert guard.get(at(place, "index")).status_code == 200
    assert guard.get(at(place, "new")).status_code == 403
    assert "Add cameras" not in said(guard.get(at(place, "index")))
    for name, *more in (("settings",), ("edit", camera.camera_id), ("remove", camera.camera_id)):
        assert guard.post(at(place, name, *more), {"name": "Mine", "wanted": "on"}).status_code == 403
    with tenant_scope(place.tenant):
        assert Camera.objects.get().name == "正面玄関"


def test_no_more_cameras_are_kept_than_a_round_of_pictures_takes(place, manager, camera, monkeypatch):
    monkeypatch.setattr(actions, "MAX_CAMERAS", 3)
    assert "No cameras were added. The limit is 3 cameras. Remove those you no longer need." in said(
        add(manager, place, "c1\nc2\nc3")
    )
    assert "2 cameras added." in said(add(manager, place, "c1\nc2"))


def test_switching_pictures_of_commands_is_written_down(place, manager):
    manager.post(at(place, "settings"), {"wanted": "on"})
    assert audited(place) == ["camera.settings"]


def test_a_guard_sees_no_record_of_yesterday_beside_a_camera(place, manager, camera):
    then = timezone.now() - timedelta(days=1)
    with tenant_scope(place.tenant):
        Camera.objects.update(doors=["D1"])
        History.objects.create(history_id="h1", at=then, device_id="D1", member_name="佐藤 花子", content="Entry")
    there = f"{at(place, 'camera', camera.camera_id)}?day={local(then).date()}"
    guard = place.client(place.staff("guard"))
    spot = reverse("history:record", args=[place.tenant.slug, "h1"])
    shown = [client.get(there).content.decode() for client in (manager, guard)]
    assert [("佐藤 花子" in page or spot in page) for page in shown] == [True, False]


def test_identifiers_of_the_log_are_not_offered_to_those_who_may_not_read_it(place, camera):
    with tenant_scope(place.tenant):
        History.objects.create(history_id="h1", at=timezone.now(), extra={"camera_id": "c77"})
    client = place.client(place.staff("facility manager"))
    with patch.object(FacilityManager, "permissions", FacilityManager.permissions - {"logs_view"}):
        assert "c77" not in client.get(at(place, "new")).content.decode()


def test_neither_receptionists_nor_support_see_cameras():
    seen = {Permission.CAMERAS_VIEW, Permission.CAMERAS_RECORDED}
    assert not seen & (Receptionist.permissions | Support.permissions)


def test_a_doors_page_shows_its_cameras_to_those_who_may_see_them(place, manager, camera):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="正面エントランス")
        Camera.objects.update(doors=["D1"])
    door = reverse("devices:door", args=[place.tenant.slug, "D1"])
    manager.get(door)
    with tenant_scope(place.tenant):
        refreshing.read_in_sight()
    assert "/picture/" in manager.get(door).content.decode()
    assert "/picture/" in manager.get(at(place, "at_door", "D1")).content.decode()
    support = place.client(place.staff("auditor"))
    assert "/picture/" in support.get(door).content.decode()


def test_a_camera_stands_on_a_floor_plan_by_its_name(place, manager, camera):
    with tenant_scope(place.tenant):
        assert plan_devices.load_devices(place.tenant)[f"camera:{camera.camera_id}"].name == "正面玄関"


def test_identifiers_in_the_activity_log_are_offered(place, manager, camera):
    with tenant_scope(place.tenant):
        made = {"at": timezone.now(), "extra": {"camera_id": "c77"}}
        History.objects.create(history_id="h1", **made)
        History.objects.create(history_id="h2", at=timezone.now(), extra={"camera_id": camera.camera_id})
    html = manager.get(at(place, "new")).content.decode()
    assert "c77" in html
    assert camera.camera_id not in html


def test_cameras_that_the_service_refuses_are_left_alone_for_a_while(place, manager, camera):
    with tenant_scope(place.tenant):
        Connection.objects.update(scopes_refused=["cameras:read"])
        Picture.objects.create(camera=camera, requested_at=database_now() - timedelta(minutes=6))
    assert "The connection lacks the permission" in said(look_at_wall(place, manager))
    assert place.calls(30) == place.calls(32) == []
    with tenant_scope(place.tenant):
        Picture.objects.update(requested_at=database_now() - timedelta(minutes=20))
    look_at_wall(place, manager)
    assert len(place.calls(30)) == 1


def test_without_cameras_the_page_says_what_to_do(place, manager):
    assert "Add cameras by their IDs. The IDs are on the member site." in said(manager.get(at(place, "index")))


def test_where_the_calls_are_used_up_the_wall_says_so_and_until_when(place, manager, camera):
    until = timezone.now() + timedelta(minutes=30)
    with tenant_scope(place.tenant):
        line = Connection.objects.get()
        Gauge.objects.update_or_create(
            connection=line, call_class=str(CallClass.DEVICE), generation=line.token_generation,
            defaults={"limit_seen": 180, "others": 180, "others_until": until},
        )  # fmt: skip
    for page in (at(place, "index"), at(place, "camera", camera.camera_id)):
        words = said(manager.get(page))
        assert re.search(r"No picture .*No device API calls left for camera pictures until \d\d:\d\d", words)
        assert "No picture yet" not in words
