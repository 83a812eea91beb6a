"""A manager collects evidence of an incident: records, video, pictures, requests, access checks and notes."""

import hashlib
import re
from datetime import timedelta

import pytest
from django.core.files.storage import storages
from django.urls import reverse
from django.utils import timezone

from portal.base.storage import store
from portal.base.storage.models import StoredFile
from portal.base.timers.clock import database_now
from portal.base.ui.times import local
from portal.domain.cameras.models import Camera, CameraUsage, Clip
from portal.domain.history.models import History
from portal.domain.intents import nonces
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from portal.domain.sync import failure_reasons
from portal.evidence import actions, signals
from portal.evidence.models import Incident, Item
from tenants.models import AuditEntry, Connection
from tenants.scope import tenant_scope
from tests.support import evidence
from tests.support.cameras import used
from tests.support.evidence import url, when, work
from tests.support.log import keep_one
from tests.support.members import said
from tests.support.places import nonce_of


@pytest.fixture
def opened(place, manager):
    return lambda count=1, **before: evidence.opened(place, manager, count, **before)


def test_an_incident_is_opened_and_records_are_added_with_their_video(place, manager, opened):
    page = opened()
    assert "2 items added" in said(page)
    assert "=佐藤 太郎" in said(page)
    assert "East door" in said(page)
    assert "Loading 1 video or picture." in said(page)
    work(place)
    page = manager.get(url(place, "incident", 1))
    assert "Copies are kept here. Originals are deleted from" in said(page)
    (source,) = re.findall(r'<video src="([^"]+)"', page.content.decode())
    assert "media-src 'self'" in page["Content-Security-Policy"]
    video = b"".join(manager.get(source).streaming_content)
    assert video[4:8] == b"ftyp"
    with tenant_scope(place.tenant):
        assert Item.objects.get(kind="clip").file.sha256 == hashlib.sha256(video).hexdigest()
        told = list(AuditEntry.objects.filter(target="incident:1").order_by("pk").values_list("action", flat=True))
    assert told == ["incident.opened", "evidence.added", "evidence.stored", "evidence.viewed"]


def test_what_is_stored_is_encrypted_and_a_part_of_it_can_be_played(place, manager, opened):
    opened()
    work(place)
    with tenant_scope(place.tenant):
        item = Item.objects.get(kind="clip")
        with storages["evidence"].open(item.file.path) as sealed:
            assert b"ftyp" not in sealed.read()
    whole = b"".join(manager.get(url(place, "file", 1, item.pk)).streaming_content)
    part = manager.get(url(place, "file", 1, item.pk), headers={"Range": "bytes=100-199"})
    assert (part.status_code, part["Content-Range"]) == (206, f"bytes 100-199/{len(whole)}")
    assert b"".join(part.streaming_content) == whole[100:200]
    past_the_end = manager.get(url(place, "file", 1, item.pk), headers={"Range": "bytes=99999999999-"})
    assert past_the_end.status_code == 416


def test_video_is_saved_with_the_share_kept_for_incidents_and_never_beyond_the_limit(place, manager, opened):
    with tenant_scope(place.tenant):
        CameraUsage.objects.create(**used(place.tenant, download_total=930, download_limit=1000))
    opened(3)
    work(place)
    page = said(manager.get(url(place, "incident", 1)))
    with tenant_scope(place.tenant):
        assert Item.objects.filter(kind="clip", media="stored").count() == 2
    assert "The download limit of this period is used up." in page
    assert "1 video or picture is not saved." in page
    assert "The first is deleted on" in page


def test_a_video_still_to_come_is_fetched_when_it_is_there(place, manager, opened):
    place.sandbox.settings(place.service.tenant_id, video_lag_seconds=10**8)
    opened(seconds=20)
    work(place)
    assert "Loading 1 video or picture." in said(manager.get(url(place, "incident", 1)))
    place.sandbox.settings(place.service.tenant_id, video_lag_seconds=0)
    with tenant_scope(place.tenant):
        Item.objects.filter(kind="clip").update(due_at=database_now())
        Clip.objects.update(due_at=None)
    work(place)
    assert "<video" in manager.get(url(place, "incident", 1)).content.decode()


def test_a_video_that_the_service_does_not_give_says_why(place, manager, opened):
    with tenant_scope(place.tenant):
        Connection.objects.update(state=Connection.State.BROKEN)
    opened()
    work(place)
    page = said(manager.get(url(place, "incident", 1)))
    assert "Not saved " + failure_reasons.sentence_of("not_connected") in page


def test_a_video_the_service_has_deleted_says_so_and_costs_no_call(place, manager, opened):
    opened(days=91)
    work(place)
    assert "The service has deleted it." in said(manager.get(url(place, "incident", 1)))
    assert place.calls(33) == []


def test_the_picture_of_a_camera_is_added(place, manager, opened):
    opened()
    with tenant_scope(place.tenant):
        camera = Camera.objects.get()
    future = manager.post(
        url(place, "picture", 1), {"camera": camera.pk, "at": when(timezone.now() + timedelta(hours=1))}
    )
    assert future.status_code == 422
    assert "This time is in the future." in said(future)
    manager.post(url(place, "picture", 1), {"camera": camera.pk, "at": when(timezone.now() - timedelta(minutes=50))})
    work(place)
    page = manager.get(url(place, "incident", 1))
    assert '<img src="' in page.content.decode()
    assert "East entrance" in said(page)


def test_a_note_is_kept_with_its_author_and_an_empty_one_is_refused(place, manager, opened):
    opened()
    manager.post(url(place, "note", 1), {"text": "見回り中に確認。\n扉は閉まっていた。"})
    page = said(manager.get(url(place, "incident", 1)))
    assert "扉は閉まっていた。" in page
    refused = manager.post(url(place, "note", 1), {"text": " "})
    assert refused.status_code == 422
    assert "Enter a note." in said(refused)


def test_records_around_an_incident_are_searched(place, manager):
    at = timezone.now() - timedelta(hours=1)
    with tenant_scope(place.tenant):
        for number, (name, moved) in enumerate((("佐藤 太郎", 0), ("鈴木 花子", 60), ("佐藤 太郎", 7200))):
            told_at = at - timedelta(seconds=moved)
            keep_one(history_id=f"h{number}", at=told_at, member_name=name, device_name="East door", content="Entry")
    manager.post(url(place, "new"), {"title": "X", "began_at": when(at)})

    def found(text):
        return re.findall(r'name="record" value="(\w+)"', manager.get(url(place, "records", 1) + text).content.decode())

    assert found("") == ["h1", "h0"]
    assert found("?q=佐藤") == ["h0"]
    assert found("?q=east+鈴木") == ["h1"]
    nothing = manager.get(url(place, "records", 1) + "?q=高橋")
    assert "No matching log records around this time" in said(nothing)
    assert 'value="高橋"' in nothing.content.decode()


def test_adding_the_same_again_adds_nothing(place, manager, opened):
    opened()
    with tenant_scope(place.tenant):
        record = History.objects.get()
    again = manager.post(url(place, "add_record", record.history_id), {"incident": "1"}, follow=True)
    assert "0 items added." in said(again)
    with tenant_scope(place.tenant):
        assert Item.objects.count() == 2


def test_a_record_is_added_from_its_own_page(place, manager, opened):
    opened()
    with tenant_scope(place.tenant):
        record = History.objects.get()
        Item.objects.all().delete()
    page = manager.get(reverse("history:record", args=[place.tenant.slug, record.history_id]))
    assert "Add to incident" in said(page)
    there = url(place, "add_record", record.history_id)
    assert f'href="{there}"' in page.content.decode()
    assert "Incident 1: Side door forced open" in said(manager.get(there))
    assert "2 items added." in said(manager.post(there, {"incident": "1"}, follow=True))


def test_an_access_check_of_that_moment_is_kept_with_what_was_known_then(place, manager, opened):
    opened()
    with tenant_scope(place.tenant):
        Area.objects.create(area_id="A1", area_name="Server room")
        member = Member.objects.create(
            member_id="M1",
            member_name="佐藤 太郎",
            has_card=True,
            rights={"devices_pass": {"effect": "allow", "areas": [{"area_id": "A1", "effect": "allow"}]}},
            rights_read_at=database_now(),
        )
    asked = f"?member=M1&place=area:A1&at={when(timezone.now() - timedelta(hours=2))}"
    check = manager.get(reverse("explain:index", args=[place.tenant.slug]) + asked)
    assert "Add to incident" in said(check)
    there = url(place, "add_rights") + asked
    assert "Server room" in said(manager.get(there))
    manager.post(there, {"incident": "1"})
    before = said(manager.get(url(place, "incident", 1)))
    assert "佐藤 太郎 at Server room: Access" in before
    with tenant_scope(place.tenant):
        Member.objects.filter(pk=member.pk).update(rights={}, has_card=False)
    assert re.search("佐藤 太郎 at Server room: Access [a-z ]+", before)[0] in said(
        manager.get(url(place, "incident", 1))
    )


def test_a_request_of_staff_is_kept_with_what_came_of_it(place, manager, opened):
    opened()
    with tenant_scope(place.tenant):
        Incident.objects.update(began_at=timezone.now())
    form = reverse("groups:new", args=[place.tenant.slug])
    manager.post(form, {"membergroup_name": "Night shift", nonces.FIELD: nonce_of(manager.get(form))})
    page = manager.get(url(place, "requests", 1))
    assert "Night shift" in said(page)
    chosen = re.findall(r'name="request" value="(\d+)"', page.content.decode())
    manager.post(url(place, "requests", 1), {"request": chosen})
    assert "Night shift" in said(manager.get(url(place, "incident", 1)))


def test_a_closed_incident_takes_nothing_more(place, manager, opened):
    opened()
    day = local(timezone.now()).date() + timedelta(days=30)
    closed = manager.post(url(place, "close", 1), {"keep_until": day.isoformat()}, follow=True)
    assert f"Kept until {day} ." in said(closed)
    refused = manager.post(url(place, "note", 1), {"text": "too late"}, follow=True)
    assert "Nothing was changed. This incident is closed." in said(refused)
    assert "too late" not in said(manager.get(url(place, "incident", 1)))


def test_an_incident_is_deleted_after_its_time_but_not_on_hold(place, manager, opened):
    opened()
    work(place)
    today = local(timezone.now()).date()
    manager.post(url(place, "close", 1), {"keep_until": today.isoformat()})
    hold = evidence.held(place, manager)
    with tenant_scope(place.tenant):
        Incident.objects.update(keep_until=today - timedelta(days=1), due_at=database_now())
        assert actions.EXPIRED_INCIDENTS.claim_batch() == []
        actions.delete_expired(Incident.objects.get().pk)
        digest = StoredFile.objects.get().sha256
    assert "On legal hold since" in said(manager.get(url(place, "incident", 1)))
    manager.post(url(place, "end_hold", 1, hold.pk))
    with tenant_scope(place.tenant):
        (due,) = actions.EXPIRED_INCIDENTS.claim_batch()
        actions.delete_expired(due.pk)
        assert Incident.objects.count() == Item.objects.count() == 0
        entry = AuditEntry.objects.get(action="incident.deleted")
        path = StoredFile.objects.get().path
        assert store.delete_due() == 1
    assert entry.before["files"] == [digest]
    assert not storages["evidence"].exists(path)
    assert manager.get(url(place, "incident", 1)).status_code == 404


def test_the_number_of_a_deleted_incident_is_not_used_again(place, manager, opened):
    opened()
    manager.post(url(place, "close", 1), {"keep_until": local(timezone.now()).date().isoformat()})
    manager.post(url(place, "delete", 1))
    manager.post(url(place, "new"), {"title": "Another", "began_at": "2026-11-01T10:00"})
    assert manager.get(url(place, "incident", 2)).status_code == 200


def test_an_open_incident_is_not_deleted(place, manager, opened):
    opened()
    answer = manager.post(url(place, "delete", 1), follow=True)
    assert "This incident is open. Close it first." in said(answer)


def test_an_auditor_reads_and_changes_nothing_and_a_guard_sees_nothing(place, manager, opened):
    opened()
    auditor = place.client(place.staff("auditor"))
    page = said(auditor.get(url(place, "incident", 1)))
    assert "Side door forced open" in page
    assert "Create export" not in page
    assert auditor.post(url(place, "export", 1)).status_code == 403
    assert auditor.get(url(place, "new")).status_code == 403
    guard = place.client(place.staff("guard"))
    assert guard.get(url(place, "index")).status_code == 403


def test_an_incident_of_another_tenant_is_not_there(place, manager, opened, make):
    opened()
    other = make()
    theirs = other.client(other.staff("owner"))
    assert theirs.get(url(other, "incident", 1)).status_code == 404
    assert theirs.get(url(place, "incident", 1)).status_code == 404


def test_video_about_to_be_deleted_is_an_alert(place, manager, opened):
    with tenant_scope(place.tenant):
        CameraUsage.objects.create(**used(place.tenant, download_total=1000, download_limit=1000))
    opened(days=80)
    work(place)
    with tenant_scope(place.tenant):
        (seen,) = signals._expiring_incidents(place.tenant, {"left": 14})
        assert seen.facts == {"number": 1, "days": 14}
        assert list(signals._expiring_incidents(place.tenant, {"left": 5})) == []


def test_video_that_a_worker_tries_in_vain_to_fetch_is_an_alert_too(place, manager, opened):
    opened(days=80)
    with tenant_scope(place.tenant):
        assert Item.objects.get(kind="clip").media == "wanted"
        assert len(list(signals._expiring_incidents(place.tenant, {"left": 14}))) == 1
    page = manager.get(url(place, "incident", 1))
    assert "Loading The service deletes it on" in said(page)
    assert "chip-loud" in manager.get(url(place, "index")).content.decode()


def test_an_address_that_no_longer_works_is_asked_for_anew(place, manager, opened):
    opened()
    with tenant_scope(place.tenant):
        record = History.objects.get()
        dead = f"{place.sandbox.url}/files/cameras/none/video.mp4"
        told = {"at": record.at, "state": "ready", "address": dead, "answered_at": database_now()}
        Clip.objects.create(history_id=record.history_id, **told)
    work(place)
    assert "Not saved The download link was no longer valid." in said(manager.get(url(place, "incident", 1)))
    manager.post(url(place, "fetch", 1))
    work(place)
    assert "<video" in manager.get(url(place, "incident", 1)).content.decode()


def test_the_list_shows_when_evidence_is_lost(place, manager, opened):
    assert "No incidents yet" in said(manager.get(url(place, "index")))
    with tenant_scope(place.tenant):
        CameraUsage.objects.create(**used(place.tenant, download_total=1000, download_limit=1000))
    opened(days=80)
    work(place)
    page = manager.get(url(place, "index"))
    assert "Side door forced open" in said(page)
    assert "chip-loud" in page.content.decode()


def test_an_end_before_the_beginning_is_refused(place, manager):
    answer = manager.post(
        url(place, "new"), {"title": "X", "began_at": "2026-11-02T10:00", "ended_at": "2026-11-01T10:00"}
    )
    assert answer.status_code == 422
    assert "The end is before the beginning." in said(answer)


def test_what_is_removed_is_gone_with_its_file_and_the_audit_log_keeps_its_digest(place, manager):
    clip = evidence.filmed(place, manager)
    with tenant_scope(place.tenant):
        digest = clip.file.sha256
    assert "SHA-256 of its file" in said(manager.get(url(place, "remove", 1, clip.pk)))
    manager.post(url(place, "remove", 1, clip.pk))
    assert manager.get(url(place, "file", 1, clip.pk)).status_code == 404
    with tenant_scope(place.tenant):
        file = StoredFile.objects.get()
        assert file.key is None, "its bytes are noise from now on"
        assert store.delete_due() == 1
        (removed,) = AuditEntry.objects.get(action="evidence.removed").before["items"]
    assert (removed["kind"], removed["sha256"]) == ("clip", digest)


def test_no_more_is_added_than_an_incident_holds(place, manager, opened, monkeypatch):
    opened()
    monkeypatch.setattr(actions, "MOST_ITEMS", 2)
    refused = said(manager.post(url(place, "note", 1), {"text": "One too many"}, follow=True))
    assert "Nothing was added. An incident holds at most 2,000 items. Create another incident." in refused
    assert refused.count("One too many") == 1, "in the form again, and not among the items"
    with tenant_scope(place.tenant):
        assert not Item.objects.filter(kind="note").exists()


def test_only_this_incidents_video_is_saved_now(place, manager, opened):
    opened()
    manager.post(url(place, "new"), {"title": "Another", "began_at": "2026-11-01T10:00"})
    with tenant_scope(place.tenant):
        clip, other = Item.objects.get(kind="clip"), Incident.objects.get(number=2)
        Item.objects.filter(pk=clip.pk).update(media="failed", due_at=None)
        lost = {"reference": "lost", "media": "failed", "at": clip.at, "expires_at": clip.expires_at}
        theirs = Item.objects.create(incident=other, kind="clip", facts=clip.facts, added_by=clip.added_by, **lost)
    manager.post(url(place, "fetch", 2))
    manager.post(url(place, "fetch", 1), {"item": theirs.pk})
    with tenant_scope(place.tenant):
        assert Item.objects.get(pk=theirs.pk).media == "wanted"
        assert Item.objects.get(pk=clip.pk).media == "failed"
