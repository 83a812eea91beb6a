"""A facility manager and the page of one member: everything in one place, in few queries, also with missing data."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.intents.models import Intent
from portal.domain.people.models import Member
from portal.domain.sync import local_writes
from portal.domain.sync.models import MirrorState
from portal.members import faces
from portal.members.models import Portrait
from tenants.roles import FacilityManager
from tests.support.log import keep
from tests.support.members import MembersDesk, said

SINCE = "2026-11-14T09:00:00+09:00"


@pytest.fixture
def desk(make):
    return MembersDesk(make(members=2))


def did(desk, member, number, **fields):
    at = timezone.now() - timedelta(minutes=number)
    return History(tenant=desk.place.tenant, history_id=f"h{number}", at=at, member_id=member.member_id, **fields)


def test_what_the_person_lately_did_stands_beside_how_far_the_log_is_known(desk):
    member, other = desk.members()
    with desk.scope():
        History.objects.all().delete()
        MirrorState.objects.filter(kind=MirrorKind.HISTORIES).update(as_of=timezone.now(), memory={"known_from": SINCE})
    assert "No activity since 2026-11-14 09:00" in said(desk.client.get(f"{desk.url}{member.member_id}/"))
    with desk.scope():
        units = [{"unit_no": "03", "unit_name": "社用車"}]
        keep(
            did(desk, member, 1, content="Key taken", device_name="総務キーボックス", units=units),
            did(desk, member, 2, content="<b>Entry</b>", device_id="d-1", category="suspicious"),
            did(desk, other, 3, content="Somebody else's"),
        )
    page = desk.get(f"{member.member_id}/")
    words = said(desk.client.get(f"{desk.url}{member.member_id}/"))
    assert "Key taken 総務キーボックス 03 社用車" in words
    assert "&lt;b&gt;Entry&lt;/b&gt;" in page
    assert "Suspicious" in words
    assert "Change person" not in words
    assert "Show all in the activity log" not in words
    with desk.scope():
        keep(*[did(desk, member, number, content="Entry") for number in range(10, 25)])
    assert "Show all in the activity log" in desk.get(f"{member.member_id}/")


def test_the_page_asks_the_database_as_often_for_a_long_life_as_for_a_short_one(desk):
    member = desk.members()[0]

    def asked(rest):
        with CaptureQueriesContext(connection) as counted:
            desk.get(rest)
        return len([each for each in counted if "set_config" not in each["sql"]])

    desk.send(f"{member.member_id}/edit/", member_code="C0")
    with desk.scope():
        keep(did(desk, member, 0, content="Entry"))
    desk.get(f"{member.member_id}/")
    few = asked(f"{member.member_id}/")
    for number in range(1, 4):
        desk.send(f"{member.member_id}/edit/", member_code=f"C{number}")
    with desk.scope():
        keep(*[did(desk, member, number, content="Entry") for number in range(30)])
    assert asked(f"{member.member_id}/") <= few


def test_a_picture_goes_with_its_member_whoever_deleted_them(desk):
    member, other = desk.members()
    with desk.scope():
        for each in (member, other):
            faces.save_portrait_address(desk.place.tenant, each.member_id, f"https://pictures.example/{each.member_id}")
        faces.save_portrait_address(desk.place.tenant, other.member_id, f"https://pictures.example/{other.member_id}")
        Member.objects.filter(pk=member.pk).delete()
        faces.delete_orphan_portraits(desk.place.tenant)
        assert [each.member_id for each in Portrait.objects.all()] == [other.member_id]
        faces.save_portrait_address(desk.place.tenant, other.member_id, None)
        assert not Portrait.objects.exists()


def test_a_name_of_forty_wide_characters_and_values_nobody_knows_are_shown(desk):
    name = "勅使河原" * 10
    with desk.scope():
        local_writes.apply_member_write(desk.place.tenant, "m-long", {"member_name": name}, created=True)
        Member.objects.filter(member_id="m-long").update(extra={"locker": [1, {"floor": "B2"}]})
    page = desk.get("m-long/")
    assert name in page
    assert "locker" in page


def test_everything_of_a_member_who_is_gone_can_be_looked_at_and_nothing_asked(desk):
    member = desk.members()[0]
    with desk.scope():
        local_writes.apply_member_deletion(desk.place.tenant, member.member_id)
    page = desk.get(f"{member.member_id}/")
    assert "The page stays until the next full member list is loaded" in page
    for rest in ("/face/", "/keys/", "/edit/", "/picture/edit/", "/one-time/", "/reveal/"):
        assert f"{member.member_id}{rest}" not in page
    for rest in ("face/", "face/delete/", "keys/", "picture/edit/"):
        assert desk.client.get(f"{desk.url}{member.member_id}/{rest}").status_code == 404
        assert desk.client.post(f"{desk.url}{member.member_id}/{rest}").status_code == 404
    assert desk.client.post(f"{desk.url}{member.member_id}/one-time/").status_code == 404


def test_who_may_not_see_an_outcome_is_not_led_to_ask_for_it(desk):
    member = desk.members()[0]
    desk.send(f"{member.member_id}/edit/", member_code="C9")
    with desk.scope():
        newest = Intent.objects.latest("pk")
        Intent.objects.filter(pk=newest.pk).update(state="sending", finished_at=None)
    asked = f"/intents/{newest.pk}/outcome/"
    assert asked in desk.get(f"{member.member_id}/")
    other = desk.place.client(desk.place.staff("facility manager"))
    with patch.object(FacilityManager, "permissions", FacilityManager.permissions - {"audit_view", "members_edit"}):
        page = other.get(f"{desk.url}{member.member_id}/")
    assert page.status_code == 200
    assert asked not in page.content.decode()
