"""Areas as a facility manager sees them: their doors, who has access and when, and how many members are loaded."""

import csv
import html
import io
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accessapi.limits import JST
from accessapi.permissions import always, by_schedule, never, weekly
from portal.areas import access_counts
from portal.areas.models import Grant, Tally
from portal.domain.events import MirrorKind
from portal.domain.people.models import Member
from portal.domain.places.models import Area
from portal.domain.sync import local_writes
from portal.domain.sync.models import MirrorState
from tenants.models import AuditEntry
from tenants.roles import Guard, Permission, Receptionist
from tests.support.areas import AreasDesk
from tests.support.log import clock, keep_one
from tests.support.members import MembersDesk, as_read, said

NIGHT = by_schedule(weekly("22:00:00", "23:59:59", "Friday"))


def only(area, pass_):
    return {"default_mode": "option", "areas_list": [{"area_id": area.area_id, "pass": pass_}]}


@pytest.fixture
def desk(place):
    return AreasDesk(place)


@pytest.fixture
def known(desk):
    """Create five people: always, by a schedule, everywhere, no access here, not read."""
    desk.people = desk.people[:5]
    first, second, third, fourth, _unread = desk.people
    shows = {"has_card": True, "use_date_end": None, "use_end_key": 1 << 60}
    desk.know(first, only(desk.area, always()), **shows)
    desk.know(second, only(desk.area, NIGHT), **shows)
    desk.know(third, {"default_mode": "allow_all"}, **shows)
    desk.know(fourth, only(desk.other, always()), **shows)
    return desk


@pytest.fixture(params=[access_counts.FEW_HOLDERS, 0], ids=["few", "many"])
def either_way(request, monkeypatch):
    """Use both search methods: the one for rights that few members hold, and the one for rights of many."""
    monkeypatch.setattr(access_counts, "FEW_HOLDERS", request.param)


def names(page):
    return [html.unescape(name) for name in re.findall(r'<a class="row-link" href="[^"]*">([^<]*)</a>', page)]


def listed(desk, **query):
    answer = desk.client.get(desk.at(), query)
    assert answer.status_code == 200
    return names(answer.content.decode())


def test_the_list_tells_doors_flags_and_how_many_may_enter_of_how_many_known(known):
    with known.scope():
        door = known.area.devices_list[0]["device_id"]
        at = timezone.now() + timedelta(hours=1)  # later than all records in the building's own log
        keep_one(history_id="h1", at=at, device_id=door, member_name="Sato")
        Area.objects.filter(pk=known.area.pk).update(is_management=True)
    page = said(known.client.get(known.areas_url, {"q": known.area.area_name}))
    assert "at least 3" in page
    assert "Rights of 1 member not loaded" in page
    assert "Management area" in page
    assert f"{at.astimezone(JST):%Y-%m-%d %H:%M}" in page
    assert as_read(known.area.area_name) in page


def test_the_list_exports_and_the_trail_knows(known):
    answer = known.client.get(known.areas_url, {"export": "csv"})
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    mine = next(row for row in rows if row["Area"] == known.area.area_name)
    told = [mine[each] for each in ("Has access", "At any time", "Scheduled", "Every area")]
    assert told == ["at least 3", "at least 1", "at least 1", "at least 1"]
    xlsx = known.client.get(known.areas_url, {"export": "xlsx"})
    assert b"".join(xlsx.streaming_content)[:2] == b"PK"
    with known.scope():
        assert AuditEntry.objects.filter(action="area.export").count() == 2


@pytest.mark.usefixtures("either_way")
def test_the_page_of_an_area_lists_who_holds_what_and_who_may_enter_at_a_moment(known):
    first, second, third, *_others = (member.member_name for member in known.people)
    assert sorted(listed(known)) == sorted([first, second, third])
    night, noon = "2026-11-20T22:30", "2026-11-20T12:00"
    assert sorted(listed(known, at=night, entry="yes")) == sorted([first, second, third])
    assert sorted(listed(known, at=noon, entry="yes")) == sorted([first, third])
    assert listed(known, at=noon, entry="no") == [second]
    assert [listed(known, hours=hours) for hours in ("always", "schedule", "everywhere")] == [
        [first],
        [second],
        [third],
    ]
    page = said(known.client.get(known.at(), {"at": noon}))
    assert "at least 3 of 5 members" in page
    assert "Fridays 22:00" in page or "Friday" in page
    assert "Access as of 2026-11-20 12:00" in page


@pytest.mark.usefixtures("either_way")
def test_several_answers_and_a_name_narrow_together(known):
    first, second, third, *_others = (member.member_name for member in known.people)
    noon = "2026-11-20T12:00"
    assert sorted(listed(known, at=noon, entry=["yes", "no"])) == sorted([first, second, third])
    assert sorted(listed(known, hours=["always", "everywhere"])) == sorted([first, third])
    assert listed(known, at=noon, entry="yes", hours="everywhere") == [third]
    assert listed(known, at=noon, entry=["yes", "unknown"], hours=["schedule", "unknown"]) == []
    assert listed(known, hours="unknown") == []
    assert listed(known, at=noon, entry="yes", q=third) == [third]
    assert listed(known, at=noon, entry="no", q=third) == []


@pytest.mark.usefixtures("either_way")
def test_more_than_a_page_is_counted_whatever_narrows_it(known):
    rights = {"devices_pass": {"default_mode": "allow_all"}}
    with known.scope():
        more = [
            Member(member_id=f"z{n}", member_name=f"Zoe {n}", name_key=f"zoe{n}", rights=rights, has_card=True)
            for n in range(30)
        ]
        access_counts.update_grants(known.place.tenant, Member.objects.bulk_create(more))
    for query in ({"entry": "yes"}, {"entry": ["yes", "unknown"]}, {"hours": ["everywhere", "always"]}):
        asked = {**query, "size": "25", "at": "2026-11-20T12:00"}
        assert 'data-total="32"' in known.client.get(known.at(), asked).content.decode(), query
    assert 'data-total="31"' in known.client.get(known.at(), {"hours": "everywhere", "size": "25"}).content.decode()


@pytest.mark.usefixtures("either_way")
def test_the_use_period_and_having_something_to_show_count_at_the_moment(known):
    first, _second, third, *_others = known.people
    now = timezone.now()
    with known.scope():
        ended = now - timedelta(days=1)
        Member.objects.filter(pk=first.pk).update(use_date_end=ended, use_end_key=int(ended.timestamp()))
        Member.objects.filter(pk=third.pk).update(has_card=False, has_qr=False, has_face=False)
    assert listed(known, at="2026-11-20T22:30", entry="yes")[0:] == [
        name for name in listed(known, at="2026-11-20T22:30", entry="yes") if name not in (third.member_name,)
    ]
    assert third.member_name not in listed(known, entry="yes")
    assert first.member_name not in listed(known, entry="yes")


@pytest.mark.usefixtures("either_way")
def test_a_value_that_nobody_knows_is_counted_and_shown_as_such(known):
    strange = known.people[4]
    known.know(strange, only(known.area, {"effect": "allow_once"}), has_card=True, use_end_key=1 << 60)
    assert listed(known, hours="unknown") == [strange.member_name]
    assert listed(known, entry="unknown") == [strange.member_name]
    assert "Unknown" in said(known.client.get(known.at()))


@pytest.mark.usefixtures("either_way")
def test_rights_that_are_written_or_read_reach_the_page_at_once_and_those_gone_leave_it(known):
    first, *_others, last = known.people
    with known.scope():
        local_writes.apply_member_writes(
            known.place.tenant, [(first.member_id, {"devices_pass": {"default_mode": "deny_all"}})]
        )
    assert first.member_name not in listed(known)
    known.set_at_service(last, only(known.area, always()))
    known.client.get(f"/t/{known.place.tenant.slug}/members/{last.member_id}/reading/")
    assert last.member_name in listed(known)
    with known.scope():
        local_writes.apply_member_deletion(known.place.tenant, last.member_id)
        assert access_counts.count_area(known.area.area_id).count.with_access == len(listed(known)) == 2
        Member.objects.filter(pk=last.pk)._raw_delete("default")  # as the swap of a complete list does
        assert not Grant.objects.filter(member_id=last.pk).exists()
        access_counts.compact_tallies(known.place.tenant)
        assert access_counts.count_area(known.area.area_id).count.with_access == 2
        assert not Tally.objects.filter(members__lte=0).exists()


def test_filing_again_changes_nothing_and_tallies_always_add_up(known):
    with known.scope():
        before = sorted(Grant.objects.values_list("member_id", "area_id", "held_id"))
        access_counts.update_grants(known.place.tenant, Member.objects.all())
        assert sorted(Grant.objects.values_list("member_id", "area_id", "held_id")) == before
        each = {area.area_id: access_counts.count_area(area.area_id).count for area in Area.objects.all()}
        assert access_counts.count_all(each).areas == each
        access_counts.compact_tallies(known.place.tenant)
        assert access_counts.count_all(each) == access_counts.AccessCounts(each, 4)


def test_a_person_who_is_never_let_in_holds_a_right_but_may_not_enter(known):
    known.know(known.people[3], {"default_mode": "option", "areas_list": [
        {"area_id": known.area.area_id, "pass": never(), "note": "kept"}]})  # fmt: skip
    with known.scope():
        assert access_counts.count_area(known.area.area_id).count.with_access == 3


def test_when_an_area_was_last_used_is_told_as_far_as_the_log_may_be_seen(known, monkeypatch):
    slug = known.place.tenant.slug
    door = known.area.devices_list[0]["device_id"]

    def told(role):
        page = known.place.client(known.place.staff(role)).get(f"/t/{slug}/areas/", {"export": "csv"})
        heading, *rows = csv.reader(io.StringIO(b"".join(page.streaming_content).decode("utf-8-sig")))
        return heading, next(row for row in rows if row[0] == known.area.area_name)

    with known.scope():
        keep_one(history_id="old", at=clock("12:00", timezone.localdate() - timedelta(days=3)), device_id=door)
    monkeypatch.setattr(Guard, "permissions", Guard.permissions | {Permission.AREAS_VIEW})
    monkeypatch.setattr(Receptionist, "permissions", Receptionist.permissions | {Permission.AREAS_VIEW})
    heading, row = told("auditor")
    assert "12:00" in row[heading.index("Last used")]
    heading, row = told("guard")
    assert row[heading.index("Last used today")] == ""
    assert not [label for label in told("receptionist")[0] if "used" in label]
    with known.scope():
        keep_one(history_id="new", at=clock("00:00"), device_id=door)
    heading, row = told("guard")
    assert "00:00" in row[heading.index("Last used today")]


def test_what_happened_at_the_doors_and_a_link_to_each_door_stand_on_the_page(known):
    with known.scope():
        door = known.area.devices_list[0]["device_id"]
        keep_one(history_id="h2", at=timezone.now(), device_id=door, member_name="山田 太郎", content="入室")
    page = known.client.get(known.at())
    assert "山田 太郎" in said(page)
    assert f"/devices/{door}/" in page.content.decode()


def test_pages_cost_the_same_however_many_there_are(known):
    def cost(url):
        known.client.get(url)
        with CaptureQueriesContext(connection) as counted:
            assert known.client.get(url).status_code == 200
        print(url)
        return len(counted)

    choose = known.at("members/")
    before = cost(known.areas_url), cost(known.at()), cost(choose)
    with known.scope():
        Area.objects.bulk_create(Area(area_id=f"x{n}", area_name=f"Area {n}") for n in range(40))
        MirrorState.objects.filter(kind=MirrorKind.AREAS).update(total=Area.objects.count())
        rights = {"devices_pass": {"default_mode": "allow_all"}}
        members = Member.objects.bulk_create(
            Member(
                member_id=f"m{n}", member_name=f"M {n}", name_key=f"m{n}", rights=rights, rights_read_at=timezone.now()
            )
            for n in range(120)
        )
        access_counts.update_grants(known.place.tenant, members)
        MirrorState.objects.filter(kind=MirrorKind.MEMBERS).update(total=Member.objects.count())
    after = cost(known.areas_url), cost(known.at()), cost(choose)
    assert after == before
    assert max(after) <= 22, after


def test_roles_and_strangers(known, make):
    place = known.place
    for role, seen, edits in (("auditor", 200, 403), ("receptionist", 403, 403), ("guard", 403, 403)):
        browser = place.client(place.staff(role))
        assert {browser.get(known.areas_url).status_code, browser.get(known.at()).status_code} == {seen}
        assert browser.get(known.at("members/")).status_code == edits
        assert browser.post(known.at("grant/"), {"ids": known.people[0].pk}).status_code == edits
    other = MembersDesk(make())
    for rest in ("", "members/", "grant/", "withdraw/", "edits/1/"):
        assert other.client.get(known.at(rest)).status_code == 404
        assert other.client.get(f"/t/{other.place.tenant.slug}/areas/{known.area.area_id}/{rest}").status_code == 404
    assert known.client.get(f"{known.areas_url}no-such-area/").status_code == 404
    assert known.client.get(f"{known.areas_url}~00/").status_code == 404
    assert known.client.get(known.at("edits/99999999999999999999/")).status_code == 404


def test_whatever_the_address_says_is_answered(known):
    for rest in ("?at=never", "?at=9999-12-31T23:59", "?entry=x", "?hours=&hours=y", "?sort=;drop", "?after=nonsense"):
        assert known.client.get(known.at() + rest).status_code == 200
        assert known.client.get(known.areas_url + rest).status_code == 200


def test_the_palette_finds_an_area(known):
    found = known.client.get(f"/t/{known.place.tenant.slug}/find/", {"q": known.area.area_name[:3]}).content.decode()
    assert f'href="{known.at()}"' in found
    guard = known.place.client(known.place.staff("guard"))
    assert (
        known.at() not in guard.get(f"/t/{known.place.tenant.slug}/find/", {"q": known.area.area_name}).content.decode()
    )
