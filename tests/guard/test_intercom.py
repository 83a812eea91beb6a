"""A guard or a receptionist answers the intercom: the picture, the expected guests, and the unlock button."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.domain.cameras.models import Camera, CameraUsage, Picture, Viewing
from portal.domain.events import MirrorKind
from portal.domain.intents import nonces
from portal.domain.intents.models import Intent
from portal.domain.places.models import PassController
from portal.domain.sync.models import MirrorState
from portal.domain.visits.models import Stage, Visit
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.support.cameras import used
from tests.support.members import said
from tests.support.places import nonce_of


def url(place, name, *more):
    return reverse(f"intercom:{name}", args=[place.tenant.slug, *more])


@pytest.fixture
def intercom(place):
    """Make a camera of the service the intercom of a door. Return camera and door."""
    theirs = place.sandbox.look("cameras", tenant_id=place.service.tenant_id)["cameras"]
    told = next(each for each in theirs if each["is_connected"] and each["device_id"])
    with tenant_scope(place.tenant):
        door = PassController.objects.create(device_id=told["device_id"], device_name="通用口")
        camera = Camera.objects.create(
            camera_id=told["camera_id"], name="通用口カメラ", doors=[door.device_id], is_intercom=True
        )
        Camera.objects.create(camera_id="other", name="Server room", doors=[door.device_id])
    return camera, door


@pytest.fixture(params=["guard", "receptionist"])
def somebody(request, place):
    return place.client(place.staff(request.param))


def unlocked(place, client, camera, door):
    nonce = nonce_of(client.get(url(place, "camera", camera.camera_id)))
    there = url(place, "unlock", camera.camera_id, door.device_id)
    return client.post(there, {nonces.FIELD: nonce}, follow=True)


def test_the_door_beside_the_picture_is_unlocked_and_the_outcome_is_shown(place, somebody, intercom):
    camera, door = intercom
    page = unlocked(place, somebody, camera, door)
    assert page.status_code == 200
    assert "Unlock: 通用口" in said(page)
    assert len(place.calls(35)) == 1
    with tenant_scope(place.tenant):
        assert Intent.objects.get().permission == "intercom"


def test_somebody_at_the_intercom_is_told_before_the_last_of_the_period_is_used(place, somebody, intercom):
    camera, _door = intercom
    page = url(place, "camera", camera.camera_id)
    assert "Left in this period" not in said(somebody.get(page))
    with tenant_scope(place.tenant):
        CameraUsage.objects.create(**used(place.tenant, streaming_total=400, streaming_limit=1000))
    told = somebody.get(page)
    assert "Left in this period: 10 min. Reserved for incidents: 100 s." in said(told)
    assert 'name="incident"' not in told.content.decode()
    with tenant_scope(place.tenant):
        (entry,) = AuditEntry.objects.filter(action="camera.latest")
        assert entry.target == f"camera:{camera.camera_id}"


def test_no_guest_is_expected_as_far_as_guests_are_read(place, somebody, intercom):
    camera, _door = intercom
    told = said(somebody.get(url(place, "camera", camera.camera_id)))
    assert "No guest is expected in the next hour. Guests not loaded." in told
    with tenant_scope(place.tenant):
        MirrorState.objects.update_or_create(kind=MirrorKind.GUESTS, defaults={"as_of": timezone.now()})
    assert "Guests not loaded." not in said(somebody.get(url(place, "camera", camera.camera_id)))


def test_a_single_intercom_is_shown_at_once_and_no_other_camera_is_there(place, somebody, intercom):
    assert intercom
    page = somebody.get(url(place, "index"), follow=True)
    assert "通用口カメラ" in said(page)
    assert "Server room" not in said(page)
    assert somebody.get(url(place, "camera", "other")).status_code == 404


def test_a_door_of_no_intercom_is_not_unlocked(place, somebody, intercom):
    camera, _door = intercom
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="elsewhere", device_name="Vault")
    assert somebody.post(url(place, "unlock", camera.camera_id, "elsewhere")).status_code == 404
    assert place.calls(35) == []


def test_who_is_expected_about_now_stands_beside_it(place, somebody, intercom):
    camera, _door = intercom
    now = timezone.now()
    hours = {"now": (-1, 1), "tomorrow": (20, 24), "over": (-5, -3)}
    with tenant_scope(place.tenant):
        for name, (start, end) in hours.items():
            Visit.objects.create(
                stage=Stage.ISSUED,
                guest_id=name,
                guest_name=f"Guest {name}",
                name_key=name,
                host_name="佐藤",
                use_date_start=now + timedelta(hours=start),
                use_date_end=now + timedelta(hours=end),
            )
    page = said(somebody.get(url(place, "camera", camera.camera_id)))
    assert "Guest now" in page
    assert "to see 佐藤" in page
    assert "Guest tomorrow" not in page
    assert "Guest over" not in page


def test_the_picture_is_served_from_here_and_one_of_the_past_is_not(place, somebody, intercom):
    camera, _door = intercom
    with tenant_scope(place.tenant):
        latest = Picture.objects.create(camera=camera, content=b"\xff\xd8\xffx", mark="m1", taken_at=timezone.now())
        past = Picture.objects.create(camera=camera, at=timezone.now(), content=b"\xff\xd8\xffy", mark="m2")
    page = somebody.get(url(place, "camera", camera.camera_id)).content.decode()
    address = url(place, "picture", camera.camera_id, latest.pk, "m1")
    assert f'src="{address}"' in page
    assert somebody.get(address).content == b"\xff\xd8\xffx"
    assert somebody.get(url(place, "picture", camera.camera_id, past.pk, "m2")).status_code == 404


def test_watching_live_is_written_down(place, somebody, intercom):
    camera, _door = intercom
    page = somebody.post(url(place, "live", camera.camera_id), follow=True)
    assert "data-player" in page.content.decode()
    assert url(place, "camera", camera.camera_id) in page.redirect_chain[0][0]
    with tenant_scope(place.tenant):
        assert AuditEntry.objects.get(action="camera.live").target == f"camera:{camera.camera_id}"


def test_without_an_intercom_the_page_says_who_sets_it_up(place, somebody):
    assert "A facility manager can set a camera as an intercom" in said(somebody.get(url(place, "index")))


def test_an_auditor_does_not_answer_it(place, intercom):
    camera, door = intercom
    auditor = place.client(place.staff("auditor"))
    assert auditor.get(url(place, "camera", camera.camera_id)).status_code == 403
    assert auditor.post(url(place, "unlock", camera.camera_id, door.device_id)).status_code == 403


def test_a_manager_switches_it_on_at_the_camera(place, intercom):
    _camera, door = intercom
    manager = place.client(place.staff("facility manager"))
    there = reverse("cameras:edit", args=[place.tenant.slug, "other"])
    assert "Guards and receptionists see this camera under Intercom" in said(manager.get(there))
    manager.post(there, {"name": "Server room", "doors": [door.device_id], "is_intercom": "on"})
    assert "Server room" in said(manager.get(url(place, "index")))


def test_an_old_picture_says_that_a_newer_one_is_loading(place, somebody, intercom):
    camera, _door = intercom
    page = url(place, "camera", camera.camera_id)
    for minutes, is_loading in ((5, True), (1, False)):
        with tenant_scope(place.tenant):
            taken_at = timezone.now() - timedelta(minutes=minutes)
            values = {"mark": "m", "taken_at": taken_at, "requested_at": taken_at, "content": b""}
            Picture.objects.update_or_create(camera=camera, at=None, defaults=values)
        assert ("Loading a newer picture" in said(somebody.get(page))) is is_loading


def test_the_video_stays_the_only_picture_after_it_was_continued(place, somebody, intercom):
    camera, _door = intercom
    page = somebody.post(url(place, "live", camera.camera_id), follow=True)
    with tenant_scope(place.tenant):
        look = Viewing.objects.get()
    somebody.post(url(place, "go_on", camera.camera_id, look.pk))
    part = somebody.get(page.redirect_chain[-1][0], headers={"X-Version": "older"})
    assert "Watch live" not in said(part)
