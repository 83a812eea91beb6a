"""A facility manager enters cameras, looks at their pictures and video, and stays within the period's limits."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.cameras.line import wire
from portal.core.cameras import usage, watch, watching
from portal.core.cameras.models import Camera, CameraUsage, Picture, Viewing
from portal.core.mirror.models import History, PassController
from portal.core.timers.clock import database_now
from portal.plans import things
from tenants.models import AuditEntry, Connection
from tenants.roles import Permission, Receptionist, Support
from tenants.scope import tenant_scope
from tests.support.members import said

LONG = "東京本社ビル 北館 三階 会議室エリア 西側通用口"


@pytest.fixture
def theirs(place):
    """The cameras of the service, by what the sandbox calls them."""
    return list(place.sandbox.look("cameras", tenant_id=place.service.tenant_id)["cameras"])


@pytest.fixture
def manager(place):
    return place.client(place.staff("facility manager"))


@pytest.fixture
def camera(place, theirs):
    with tenant_scope(place.tenant):
        return Camera.objects.create(camera_id=theirs[0]["camera_id"], name="正面玄関")


def at(place, name, *more):
    return reverse(f"cameras:{name}", args=[place.tenant.slug, *more])


def add(client, place, text):
    return client.post(at(place, "new"), {"cameras": text}, follow=True)


def look_at_wall(place, client):
    """What the wall says once the watch has read what is in sight."""
    client.get(at(place, "index"))
    with tenant_scope(place.tenant):
        watch.read_in_sight()
        watch.read_in_sight()
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
    assert "The service does not know this camera. Nothing was saved." in said(page)
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
        ("\n".join(f"c{n}" for n in range(201)), "At most 200 cameras at once."),
    ],
)
def test_lines_that_cannot_be_read_are_named(place, manager, text, complaint):
    assert complaint in said(add(manager, place, text))
    with tenant_scope(place.tenant):
        assert not Camera.objects.exists()


def test_a_camera_is_in_the_list_once(place, manager, camera):
    page = add(manager, place, f"{camera.camera_id}\nc2")
    assert f"Already in the list: {camera.camera_id}. Nothing was saved." in said(page)


def test_the_wall_reads_ten_cameras_in_a_call_and_leaves_out_what_is_missing(place, manager, theirs):
    names = [each["camera_id"] for each in theirs]
    add(manager, place, "\n".join(f"{name}, 番号 {n}" for n, name in enumerate(names)) + "\nc999zzzzzz, Nowhere")
    page = look_at_wall(place, manager)
    with tenant_scope(place.tenant):
        watch.read_in_sight()
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


def test_the_next_round_waits_until_the_hour_has_room_for_it(place, manager, camera):
    for _ in range(5):
        look_at_wall(place, manager)
    assert len(place.calls(30)) == 1
    with tenant_scope(place.tenant):
        Picture.objects.update(asked_at=database_now() - timedelta(minutes=3))
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
        assert watch.pace(40, 180) == timedelta(minutes=5, seconds=20)
    without = len(place.calls(32))
    assert without == sum(not each["is_connected"] for each in theirs)


def test_nobody_looking_costs_nothing(place, manager, camera):
    with tenant_scope(place.tenant):
        assert watch.read_in_sight() == 0
    assert place.calls(30) == []


def test_an_address_of_another_host_is_not_followed(make):
    place = make(overrides='[media]\nhosts = ["media.example.com"]')
    with tenant_scope(place.tenant):
        known = place.sandbox.look("cameras", tenant_id=place.service.tenant_id)["cameras"][0]["camera_id"]
        Camera.objects.create(camera_id=known, name="Gate")
    assert "an address that the operator has not allowed" in said(look_at_wall(place, place.client()))


def test_an_offline_camera_says_so_and_keeps_its_last_picture(place, manager, camera):
    look_at_wall(place, manager)
    place.sandbox.console("cameras", tenant_id=place.service.tenant_id, camera_id=camera.camera_id, is_connected=False)
    with tenant_scope(place.tenant):
        Picture.objects.update(asked_at=database_now() - timedelta(minutes=3))
        Camera.objects.update(status_at=database_now() - timedelta(hours=1))
    page = look_at_wall(place, manager)
    assert "1 offline" in said(page)
    assert "The camera gave no picture." in said(page)
    assert "/picture/" in page.content.decode()


def watched(page):
    return re.search(r'data-address="([^"]+)"', page.content.decode())


def test_watching_live_lets_the_media_host_in_and_is_written_down(place, manager, camera):
    page = manager.post(at(place, "live", camera.camera_id), follow=True)
    assert watched(page)[1].startswith(place.sandbox.url)
    policy = page["Content-Security-Policy"]
    assert f"media-src blob: {place.sandbox.url}" in policy
    for other in (at(place, "index"), at(place, "camera", camera.camera_id)):
        assert place.sandbox.url not in manager.get(other)["Content-Security-Policy"]
    assert "no-store" in page["Cache-Control"]
    assert audited(place)[0] == "camera.live"


def test_two_people_who_watch_the_same_share_a_call(place, manager, camera):
    manager.post(at(place, "live", camera.camera_id))
    place.client(place.staff("guard")).post(at(place, "live", camera.camera_id))
    assert len(place.calls(31)) == 1
    with tenant_scope(place.tenant):
        assert Viewing.objects.count() == 2


def test_somebody_elses_look_is_not_shown(place, manager, camera):
    manager.post(at(place, "live", camera.camera_id))
    with tenant_scope(place.tenant):
        mine = Viewing.objects.get()
    page = at(place, "camera", camera.camera_id) + f"?watch={mine.pk}"
    assert watched(manager.get(page))
    assert not watched(place.client(place.staff("guard")).get(page))


def test_an_address_rests_encrypted_and_is_in_no_entry(place, manager, camera):
    page = manager.post(at(place, "live", camera.camera_id), follow=True)
    address = watched(page)[1].replace("&amp;", "&")
    with tenant_scope(place.tenant):
        assert Viewing.objects.get().address == address
        raw = bytes(Viewing.objects.extra(select={"raw": "address"}).values_list("raw", flat=True)[0])
        assert address.encode() not in raw
        assert not any(address in str(entry.after) + str(entry.summary) for entry in AuditEntry.objects.all())


def test_a_recording_is_played_from_a_chosen_moment_for_ten_minutes_at_most(place, manager, camera):
    since = timezone.now() - timedelta(hours=1)
    given = {"at": wire(since), "seconds": "600"}
    page = manager.post(at(place, "recording", camera.camera_id), given, follow=True)
    assert watched(page)
    assert "Recording from" in said(page)
    with tenant_scope(place.tenant):
        assert Viewing.objects.get().seconds == 600
    assert audited(place)[0] == "camera.recorded"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"at": ""}, "Enter a date and time."),
        ({"at": "2999-01-01T00:00:00"}, "This time is in the future."),
        ({"at": "2020-01-01T00:00:00"}, "Recordings are kept for 90 days."),
    ],
)
def test_a_moment_without_a_recording_is_refused(place, manager, camera, given, complaint):
    assert complaint in said(manager.post(at(place, "recording", camera.camera_id), given, follow=True))
    assert place.calls(31) == []


def test_a_picture_of_a_moment_is_kept_and_not_asked_for_twice(place, manager, camera):
    given = {"at": wire(timezone.now() - timedelta(hours=1))}
    page = manager.post(at(place, "picture_at", camera.camera_id), given, follow=True)
    assert "Picture of" in said(page)
    manager.post(at(place, "picture_at", camera.camera_id), given)
    assert len(place.calls(30)) == 1
    source = re.search(r'id="still">\s*<img class="shot" src="([^"]+)"', page.content.decode())[1]
    assert manager.get(source).content.startswith(b"\xff\xd8\xff")
    receptionist = place.client(place.staff("receptionist"))
    assert receptionist.get(source).status_code == 403


def test_the_share_for_incidents_is_kept_and_said(place, manager, camera):
    place.sandbox.settings(place.service.tenant_id, streaming_limit=600)
    manager.post(at(place, "live", camera.camera_id))
    page = manager.post(at(place, "live", camera.camera_id), follow=True)
    assert "Only the share kept for incidents is left" in said(page)
    assert "For an incident" in said(page)
    page = manager.post(at(place, "live", camera.camera_id), {"incident": "1"}, follow=True)
    assert watched(page)
    page = manager.post(at(place, "live", camera.camera_id), {"incident": "1"}, follow=True)
    assert "The streaming limit of this period is used up." in said(page)
    with tenant_scope(place.tenant):
        assert usage.known().streaming.used == 600


def test_who_is_about_to_use_the_last_of_the_period_is_told_before(place, manager, camera):
    place.sandbox.settings(place.service.tenant_id, streaming_limit=900)
    page = at(place, "camera", camera.camera_id)
    assert "Left in this period:" not in said(manager.get(page))
    manager.post(at(place, "live", camera.camera_id))
    told = said(manager.get(page))
    assert "Left in this period: 10 min. Of the limit, 90 s is kept for incidents." in told
    assert "For an incident" not in told


def test_a_live_look_lasts_no_longer_than_its_address_and_is_renewed_then(place, manager, camera, monkeypatch):
    lasts, address = timedelta(seconds=90), watching._address

    def short(*asked):
        return address(*asked)[0], database_now() + lasts

    monkeypatch.setattr(watching, "_address", short)
    page = manager.post(at(place, "live", camera.camera_id), follow=True)
    assert 60 < int(re.search(r'data-seconds="(\d+)"', page.content.decode())[1]) <= 90
    lasts = timedelta(seconds=-5)
    with tenant_scope(place.tenant):
        look = Viewing.objects.get()
    told = manager.post(at(place, "go_on", camera.camera_id, look.pk)).json()
    assert 20 < told["seconds"] <= 30


def test_whoever_sees_pictures_is_written_down_once_an_hour(place, manager, camera):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="Front")
        Camera.objects.update(doors=["D1"])
    for _ in range(3):
        manager.get(at(place, "index"))
        manager.get(reverse("devices:door", args=[place.tenant.slug, "D1"]))
        manager.get(at(place, "camera", camera.camera_id))
    assert sorted(audited(place)) == ["camera.latest", "camera.wall"]
    guard = place.client(place.staff("guard"))
    guard.get(at(place, "camera", camera.camera_id))
    with tenant_scope(place.tenant):
        entries = list(AuditEntry.objects.filter(action="camera.latest").order_by("pk"))
        assert [each.target for each in entries] == [f"camera:{camera.camera_id}"] * 2
        assert len({each.by_id for each in entries}) == 2
        assert entries[0].sentence == "Latest picture viewed: 正面玄関"


def test_whoever_sees_a_picture_of_the_past_is_written_down_whoever_asked_for_it(place, manager, camera):
    given = {"at": wire(timezone.now() - timedelta(hours=1))}
    page = manager.post(at(place, "picture_at", camera.camera_id), given, follow=True)
    source = re.search(r'id="still">\s*<img class="shot" src="([^"]+)"', page.content.decode())[1]
    colleague = place.client(place.staff("facility manager"))
    for client in (manager, manager, colleague):
        assert client.get(source).status_code == 200
    assert audited(place).count("camera.picture") == 2


def test_what_was_not_watched_of_a_live_look_is_free_again(place, manager, camera):
    manager.post(at(place, "live", camera.camera_id))
    with tenant_scope(place.tenant):
        look = Viewing.objects.get()
    manager.post(at(place, "stop", camera.camera_id, look.pk))
    with tenant_scope(place.tenant):
        assert Viewing.objects.get().seconds <= 15


def test_going_on_sets_apart_anew_without_a_call(place, manager, camera):
    manager.post(at(place, "live", camera.camera_id))
    with tenant_scope(place.tenant):
        look = Viewing.objects.get()
    answer = manager.post(at(place, "go_on", camera.camera_id, look.pk))
    assert answer.json()["seconds"] == 300
    assert answer.json()["address"] == look.address
    assert len(place.calls(31)) == 1


def test_a_period_that_is_over_says_nothing_of_the_next(place):
    with tenant_scope(place.tenant):
        now = database_now()
        told = {"streaming_total": 900.0, "streaming_limit": 1000.0, "read_at": now - timedelta(days=2)}
        CameraUsage.objects.create(until=now - timedelta(days=1), **told)
        assert usage.known().streaming.total == 0


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
        watch.read_in_sight()
    assert "/picture/" in manager.get(door).content.decode()
    assert "/picture/" in manager.get(at(place, "at_door", "D1")).content.decode()
    support = place.client(place.staff("auditor"))
    assert "/picture/" in support.get(door).content.decode()


def test_a_camera_stands_on_a_floor_plan_by_its_name(place, manager, camera):
    with tenant_scope(place.tenant):
        assert things.known(place.tenant.slug)[f"camera:{camera.camera_id}"].name == "正面玄関"


def test_identifiers_in_the_activity_log_are_offered(place, manager, camera):
    with tenant_scope(place.tenant):
        made = {"at": timezone.now(), "extra": {"camera_id": "c77"}}
        History.objects.create(history_id="h1", **made)
        History.objects.create(history_id="h2", at=timezone.now(), extra={"camera_id": camera.camera_id})
    html = manager.get(at(place, "new")).content.decode()
    assert "c77" in html
    assert camera.camera_id not in html


def test_what_rests_of_looks_is_forgotten(place, manager, camera):
    manager.post(at(place, "live", camera.camera_id))
    manager.post(at(place, "picture_at", camera.camera_id), {"at": wire(timezone.now() - timedelta(hours=1))})
    with tenant_scope(place.tenant):
        past = database_now() - timedelta(days=2)
        Viewing.objects.update(ends_at=past, expires_at=past)
        Picture.objects.update(asked_at=past)
    watch.forget()
    with tenant_scope(place.tenant):
        assert Viewing.objects.get().address is None
        assert not Picture.objects.filter(at__isnull=False).exists()


def test_cameras_that_the_service_refuses_are_left_alone_for_a_while(place, manager, camera):
    with tenant_scope(place.tenant):
        Connection.objects.update(scopes_refused=["cameras:read"])
        Picture.objects.create(camera=camera, asked_at=database_now() - timedelta(minutes=6))
    assert "The connection lacks the permission" in said(look_at_wall(place, manager))
    assert place.calls(30) == place.calls(32) == []
    with tenant_scope(place.tenant):
        Picture.objects.update(asked_at=database_now() - timedelta(minutes=20))
    look_at_wall(place, manager)
    assert len(place.calls(30)) == 1


def test_without_cameras_the_page_says_what_to_do(place, manager):
    assert "The service does not list cameras. Add them by their IDs." in said(manager.get(at(place, "index")))
