"""A manager watches video and pictures: within the period's limits, by secret addresses, recorded in the audit log."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.base.timers.clock import database_now
from portal.cameras.queries import to_input_value
from portal.domain.cameras import playback, usage
from portal.domain.cameras.models import Camera, CameraUsage, Picture, Viewing
from portal.domain.places.models import PassController
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.support.members import said
from tests.support.rounds import round_of


@pytest.fixture
def camera(place):
    theirs = place.sandbox.look("cameras", tenant_id=place.service.tenant_id)["cameras"]
    with tenant_scope(place.tenant):
        return Camera.objects.create(camera_id=theirs[0]["camera_id"], name="正面玄関")


def at(place, name, *more):
    return reverse(f"cameras:{name}", args=[place.tenant.slug, *more])


def audited(place):
    with tenant_scope(place.tenant):
        return list(
            AuditEntry.objects.filter(action__startswith="camera.").order_by("pk").values_list("action", flat=True)
        )


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
    given = {"at": to_input_value(since), "seconds": "600"}
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
    given = {"at": to_input_value(timezone.now() - timedelta(hours=1))}
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
    assert "What is left of this period is reserved for incidents." in said(page)
    assert "For an incident" in said(page)
    page = manager.post(at(place, "live", camera.camera_id), {"incident": "1"}, follow=True)
    assert watched(page)
    page = manager.post(at(place, "live", camera.camera_id), {"incident": "1"}, follow=True)
    assert "The streaming limit of this period is used up." in said(page)
    with tenant_scope(place.tenant):
        assert usage.current_usage().streaming.used == 600


def test_the_share_for_incidents_is_not_for_a_guard_who_says_so(place, camera):
    place.sandbox.settings(place.service.tenant_id, streaming_limit=600)
    guard = place.client(place.staff("guard"))
    assert watched(guard.post(at(place, "live", camera.camera_id), follow=True))
    since = to_input_value(timezone.now() - timedelta(hours=1))
    for name, given in (("live", {}), ("recording", {"at": since, "seconds": "300"})):
        page = guard.post(at(place, name, camera.camera_id), given | {"incident": "1"}, follow=True)
        assert "What is left of this period is reserved for incidents." in said(page)
        assert not watched(page)


def test_an_auditor_reads_nothing_of_pictures_of_the_past(place, manager, camera):
    given = {"at": to_input_value(timezone.now() - timedelta(hours=1))}
    page = manager.post(at(place, "picture_at", camera.camera_id), given, follow=True)
    source = re.search(r'id="still">\s*<img class="shot" src="([^"]+)"', page.content.decode())[1]
    with tenant_scope(place.tenant):
        still = Picture.objects.get(at__isnull=False)
        Picture.objects.filter(pk=still.pk).update(trouble="offline")
    there = f"{at(place, 'camera', camera.camera_id)}?still={still.pk}"
    assert 'id="still"' in manager.get(there).content.decode()
    auditor = place.client(place.staff("auditor"))
    page = auditor.get(there)
    assert page.status_code == 200
    assert "Picture of" not in said(page)
    assert 'id="still"' not in page.content.decode()
    assert auditor.get(source).status_code == 403
    for name in ("picture_at", "recording"):
        assert auditor.post(at(place, name, camera.camera_id), given).status_code == 403


@pytest.mark.parametrize("act", ["stop", "go_on"])
def test_another_persons_look_is_neither_ended_nor_gone_on_with(place, manager, camera, act):
    manager.post(at(place, "live", camera.camera_id))
    with tenant_scope(place.tenant):
        look = Viewing.objects.get()
    guard = place.client(place.staff("guard"))
    assert guard.post(at(place, act, camera.camera_id, look.pk)).status_code == 404
    with tenant_scope(place.tenant):
        assert Viewing.objects.get().ends_at == look.ends_at


def test_a_look_that_is_over_frees_nothing_more(place, manager, camera):
    manager.post(at(place, "live", camera.camera_id))
    with tenant_scope(place.tenant):
        Viewing.objects.update(ends_at=database_now() - timedelta(seconds=1))
        look = Viewing.objects.get()
    manager.post(at(place, "stop", camera.camera_id, look.pk))
    with tenant_scope(place.tenant):
        assert Viewing.objects.get().seconds == 300


def test_who_is_about_to_use_the_last_of_the_period_is_told_before(place, manager, camera):
    place.sandbox.settings(place.service.tenant_id, streaming_limit=900)
    page = at(place, "camera", camera.camera_id)
    assert "Left in this period:" not in said(manager.get(page))
    manager.post(at(place, "live", camera.camera_id))
    told = said(manager.get(page))
    assert "Left in this period: 10 min. Reserved for incidents: 90 s." in told
    assert "For an incident" not in told


def test_a_live_look_lasts_no_longer_than_its_address_and_is_renewed_then(place, manager, camera, monkeypatch):
    lasts, address = timedelta(seconds=90), playback._address

    def short(*asked):
        return address(*asked)[0], database_now() + lasts

    monkeypatch.setattr(playback, "_address", short)
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
    given = {"at": to_input_value(timezone.now() - timedelta(hours=1))}
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
        assert usage.current_usage().streaming.total == 0


def test_what_rests_of_looks_is_forgotten(place, manager, camera):
    manager.post(at(place, "live", camera.camera_id))
    manager.post(at(place, "picture_at", camera.camera_id), {"at": to_input_value(timezone.now() - timedelta(hours=1))})
    with tenant_scope(place.tenant):
        past = database_now() - timedelta(days=2)
        Viewing.objects.update(ends_at=past, expires_at=past)
        Picture.objects.update(requested_at=past)
    round_of("camera_leftovers")
    with tenant_scope(place.tenant):
        assert Viewing.objects.get().address is None
        assert not Picture.objects.filter(at__isnull=False).exists()


def test_a_picture_beside_live_video_says_when_it_is_from_before(place, manager, camera):
    page = manager.post(at(place, "live", camera.camera_id), follow=True)
    with tenant_scope(place.tenant):
        began_at = Viewing.objects.get().began_at
        before = {"at": None, "mark": "m", "taken_at": began_at - timedelta(seconds=1), "content": b""}
        Picture.objects.update_or_create(camera=camera, at=None, defaults=before)
    part = {"path": page.redirect_chain[-1][0], "headers": {"X-Version": "older"}}
    assert "Older than the live video" in said(manager.get(**part))
    # the page goes on with a new viewing, and its picture is still beside the video that began then
    with tenant_scope(place.tenant):
        look = Viewing.objects.get()
    manager.post(at(place, "go_on", camera.camera_id, look.pk))
    assert "Older than the live video" in said(manager.get(**part))
    with tenant_scope(place.tenant):
        Picture.objects.update(taken_at=began_at + timedelta(seconds=1))
    assert "Older than the live video" not in said(manager.get(**part))


def test_stored_pictures_of_moments_are_beside_the_video(place, manager, camera):
    given = {"at": to_input_value(timezone.now() - timedelta(hours=1))}
    manager.post(at(place, "picture_at", camera.camera_id), given)
    page = manager.get(at(place, "camera", camera.camera_id)).content.decode()
    with tenant_scope(place.tenant):
        still = Picture.objects.get(at__isnull=False)
    assert f"still={still.pk}#video" in page
    auditor = place.client(place.staff("auditor"))
    assert f"still={still.pk}" not in auditor.get(at(place, "camera", camera.camera_id)).content.decode()
