"""A manager requests the video of a log record: it is available, still to come, deleted, or never existed."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.base.timers.clock import database_now
from portal.domain.cameras import clips, usage
from portal.domain.cameras.models import CameraUsage, Clip
from portal.domain.history.models import History
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.support.cameras import used
from tests.support.members import said


@pytest.fixture
def passage(place):
    """Record one passage at a door of the service, and create its row in the portal by hand."""

    def happen(camera_at_door=True, **before):
        theirs = place.sandbox.look("cameras", tenant_id=place.service.tenant_id)["cameras"]
        with_camera = {each["device_id"] for each in theirs if each["is_connected"]} - {None}
        found = place.sandbox.look("histories", tenant_id=place.service.tenant_id)["histories"]
        there = [each for each in found if each["device"] and (each["device"]["id"] in with_camera) == camera_at_door]
        with tenant_scope(place.tenant):
            return History.objects.create(
                history_id=there[0]["history_id"],
                at=timezone.now() - timedelta(**before),
                device_id=there[0]["device"]["id"],
                content="Entry",
            )

    return happen


def at(place, record):
    return reverse("cameras:clip", args=[place.tenant.slug, record.history_id])


def page_of(place, record):
    return reverse("history:record", args=[place.tenant.slug, record.history_id])


def ask(client, place, record):
    return client.post(at(place, record), follow=True)


def test_a_video_that_is_there_is_shown_and_written_down(place, manager, passage):
    record = passage(hours=1)
    assert "Get video" in said(manager.get(page_of(place, record)))
    page = ask(manager, place, record)
    assert re.search(rf'src="{place.sandbox.url}/files/cameras/[^"]+/video.mp4"', page.content.decode())
    assert f"media-src blob: {place.sandbox.url}" in page["Content-Security-Policy"]
    assert "Show video" in said(manager.get(page_of(place, record)))
    assert len(place.calls(33)) == 1
    with tenant_scope(place.tenant):
        assert AuditEntry.objects.get(action="camera.clip").target == f"history:{record.history_id}"
        assert usage.current_usage().downloads.reserved == usage.CLIP_SECONDS


def test_a_video_that_is_still_to_come_is_asked_for_again_later(place, manager, passage):
    record = passage(seconds=5)
    place.sandbox.settings(place.service.tenant_id, video_lag_seconds=10**8)
    page = ask(manager, place, record)
    assert "Video not available yet. Next attempt at" in said(page)
    ask(manager, place, record)
    assert len(place.calls(33)) == 1
    place.sandbox.settings(place.service.tenant_id, video_lag_seconds=0)
    with tenant_scope(place.tenant):
        Clip.objects.update(due_at=database_now())
        (due,) = clips.CLIPS.claim_batch()
        clips.retry(due.pk)
    asked = manager.get(at(place, record), headers={"X-Version": "an older look"})
    assert asked.headers["HX-Refresh"] == "true"
    with tenant_scope(place.tenant):
        assert Clip.objects.get().shown == 0
    assert "video.mp4" in manager.get(at(place, record)).content.decode()


def test_a_video_that_did_not_come_within_an_hour_is_not_waited_for(place, manager, passage):
    record = passage(hours=2)
    place.sandbox.settings(place.service.tenant_id, video_lag_seconds=10**8)
    assert "No video of this record" in said(ask(manager, place, record))
    with tenant_scope(place.tenant):
        assert Clip.objects.get().due_at is None


def test_a_door_without_a_camera_says_so(place, manager, passage):
    record = passage(camera_at_door=False, minutes=1)
    assert "no camera covers this place" in said(ask(manager, place, record))


def test_a_record_of_ninety_one_days_costs_no_call(place, manager, passage):
    record = passage(days=91)
    assert "Video is kept for 90 days. This record is older." in said(ask(manager, place, record))
    assert place.calls(33) == []


def test_what_the_limit_of_the_period_does_not_allow_is_not_asked_for(place, manager, passage):
    with tenant_scope(place.tenant):
        CameraUsage.objects.create(**used(place.tenant, download_total=990, download_limit=1000))
    assert "The download limit of this period is used up." in said(ask(manager, place, passage(hours=1)))
    assert place.calls(33) == []


def test_the_limit_is_asked_for_before_the_first_video_of_a_period(place, manager, passage):
    place.sandbox.settings(place.service.tenant_id, download_limit=20)
    page = ask(manager, place, passage(hours=1))
    assert "The download limit of this period is used up." in said(page)
    assert place.calls(33) == []
    assert len(place.calls(29)) == 1


def test_the_share_for_incidents_is_used_by_saying_so_alone(place, manager, passage):
    with tenant_scope(place.tenant):
        CameraUsage.objects.create(**used(place.tenant, download_total=900, download_limit=1000))
    record = passage(hours=1)
    told = said(manager.get(page_of(place, record)))
    assert "Left in this period: 100 s. Reserved for incidents: 100 s." in told
    assert "For an incident" in told
    assert "The download limit of this period is used up." in said(ask(manager, place, record))
    page = manager.post(at(place, record), {"incident": "1"}, follow=True)
    assert "video.mp4" in page.content.decode()
    again = manager.get(at(place, record))
    assert "video.mp4" not in again.content.decode()
    assert place.sandbox.url not in again["Content-Security-Policy"]
    with tenant_scope(place.tenant):
        assert Clip.objects.get().shown == 1


def test_the_share_for_incidents_is_not_for_a_guard_who_says_so(place, passage):
    with tenant_scope(place.tenant):
        CameraUsage.objects.create(**used(place.tenant, download_total=900, download_limit=1000))
    guard, record = place.client(place.staff("guard")), passage(minutes=1)
    page = guard.post(at(place, record), {"incident": "1"}, follow=True)
    assert "The download limit of this period is used up." in said(page)
    assert place.calls(33) == []
    place.client(place.staff("facility manager")).post(at(place, record), {"incident": "1"})
    assert "video.mp4" not in guard.get(f"{at(place, record)}?incident=1").content.decode()


def test_an_auditor_is_offered_no_video(place, passage):
    auditor, record = place.client(place.staff("auditor")), passage(hours=1)
    page = auditor.get(page_of(place, record))
    assert page.status_code == 200
    assert "Get video" not in said(page)
    assert auditor.post(at(place, record)).status_code == 403


def test_what_a_person_may_still_load_is_counted_although_the_service_was_asked_since(place, manager, passage):
    ask(manager, place, passage(hours=1))
    with tenant_scope(place.tenant):
        CameraUsage.objects.update(download_total=0.0, read_at=database_now())
        assert usage.current_usage().downloads.used == usage.CLIP_SECONDS
        CameraUsage.objects.update(read_at=database_now() + timedelta(minutes=11))
        assert usage.current_usage().downloads.used == 0


def test_the_address_rests_encrypted_and_is_shown_to_nobody_without_the_right(place, manager, passage):
    record = passage(hours=1)
    ask(manager, place, record)
    with tenant_scope(place.tenant):
        clip = Clip.objects.get()
        raw = bytes(Clip.objects.extra(select={"raw": "address"}).values_list("raw", flat=True)[0])
    assert clip.address.encode() not in raw
    auditor = place.client(place.staff("auditor"))
    assert auditor.get(at(place, record)).status_code == 403
    assert clip.address not in auditor.get(page_of(place, record)).content.decode()


def test_a_guard_does_not_reach_the_video_of_a_record_of_yesterday(place, passage):
    assert place.client(place.staff("guard")).get(at(place, passage(days=2))).status_code == 404


def test_an_old_address_is_asked_for_anew(place, manager, passage):
    record = passage(hours=1)
    ask(manager, place, record)
    with tenant_scope(place.tenant):
        Clip.objects.update(answered_at=database_now() - timedelta(minutes=20))
    assert "Get video" in said(manager.get(page_of(place, record)))
    ask(manager, place, record)
    assert len(place.calls(33)) == 2
