"""Members in the building by the log: which passage counts, how certain it is, and who may see it."""

import re
from datetime import timedelta
from itertools import permutations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.people.models import Member
from portal.domain.places.models import Area, PassController
from portal.domain.presence import people
from portal.domain.presence.models import LastPassage
from tenants.roles import Permission, Receptionist
from tenants.scope import tenant_scope
from tests.receptionist.desk import visit
from tests.support.log import area, happened, loaded, record
from tests.support.members import said
from tests.support.rounds import round_of


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """Let the day begin at midnight at the latest, at any hour of the test."""
    monkeypatch.setattr(people, "day_start_of", lambda now: now - timedelta(hours=10))


def member(place, number, name, **more):
    with tenant_scope(place.tenant):
        return Member.objects.create(member_id=number, member_name=name, name_key=name, **more)


def passage(who, door, minutes, **more):
    at = timezone.now() - timedelta(minutes=minutes)
    return record(at, member_id=who, member_name=f"log's {who}", device_id=door, device_name=f"Door {door}", **more)


def told(place, *records):
    """Load these records, with one reading each."""
    for each in records:
        rows = happened(place, each)
        with tenant_scope(place.tenant):
            events.publish(MirrorKind.HISTORIES, place.tenant, histories=rows)


def members_in(place):
    with tenant_scope(place.tenant):
        return {person.name: person for person in people.present_members(timezone.now())}


def page(place, role="receptionist", rest="", **query):
    answer = place.client(place.staff(role)).get(f"/t/{place.tenant.slug}/guests/building/{rest}", query)
    assert answer.status_code == 200, answer.content
    return answer


def furnish(place):
    area(place, "Lobby", IN="in", OUT="out")
    area(place, "Annex", ONLY="in")
    for number, name in (("m-1", "相沢"), ("m-2", "馬場"), ("m-3", "千葉"), ("m-4", "土井"), ("m-5", "江口")):
        member(place, number, name)
    told(
        place,
        passage("m-1", "IN", 50),
        passage("m-2", "ONLY", 40),
        passage("m-3", "IN", 30),
        passage("m-3", "OUT", 20),
        passage("m-4", "IN", 60 * 11),
        passage("m-5", "IN", 15, category="warning"),
    )


def test_an_entry_is_certain_where_leaving_is_recorded_and_likely_elsewhere(place):
    furnish(place)
    found = members_in(place)
    assert {name: person.certainty for name, person in found.items()} == {"相沢": "entry", "馬場": "likely"}
    loaded(place)
    words = said(page(place))
    assert "About 2 in the building (1 confirmed, 1 likely)" in words
    assert "Activity log complete through" in words
    assert "by Door IN" in words
    assert "at Door ONLY, exits not recorded" in words


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_newest_passage_counts_in_whatever_order_records_come(place, order):
    area(place, "Lobby", IN="in", OUT="out")
    member(place, "m-1", "相沢")
    at = timezone.now() - timedelta(minutes=5)
    person = {"member_id": "m-1", "device_name": "x"}
    records = [
        record(at - timedelta(minutes=5), history_id="a", device_id="IN", **person),
        record(at, history_id="b", device_id="OUT", **person),
        record(at, history_id="c", device_id="IN", **person),
        record(at + timedelta(minutes=1), history_id="d", device_id="OUT", category="warning", **person),
    ]
    told(place, *(records[number] for number in order))
    with tenant_scope(place.tenant):
        assert LastPassage.objects.get(member_id="m-1").history_id == "c"


def test_a_look_takes_what_a_failed_listener_missed_and_lets_old_passages_go(place):
    area(place, "Lobby", IN="in", OUT="out")
    member(place, "m-1", "相沢")
    loaded(place)
    happened(place, passage("m-1", "IN", 5))
    with tenant_scope(place.tenant):
        LastPassage.objects.create(
            member_id="m-9", at=timezone.now() - timedelta(days=401), history_id="h", device_id="IN"
        )
    assert members_in(place) == {}
    round_of("passages_taken_again")
    assert list(members_in(place)) == ["相沢"]
    with tenant_scope(place.tenant):
        assert LastPassage.objects.count() == 1


def test_the_way_out_of_a_room_does_not_lead_out_where_there_is_an_area_outside(place):
    area(place, "Lab", LAB="in", LABOUT="out")
    with tenant_scope(place.tenant):
        doors = [{"device_id": "GATE", "in_out": "in"}]
        Area.objects.create(area_id="a-out", area_name="Street", is_outside=True, devices_list=doors)
    member(place, "m-1", "相沢")
    told(place, passage("m-1", "LABOUT", 5))
    assert members_in(place)["相沢"].certainty == "likely"
    told(place, passage("m-1", "GATE", 4))
    assert members_in(place) == {}


def test_whoever_the_service_no_longer_knows_is_still_in_and_said_so(place):
    area(place, "Lobby", IN="in", OUT="out")
    told(place, passage("m-1", "IN", 5))
    assert members_in(place)["log's m-1"].is_deleted
    assert "No longer exists" in said(page(place))


def test_the_overview_and_its_list_say_the_same_number_in_the_same_words(place):
    furnish(place)
    for is_loaded in (False, True):
        if is_loaded:
            loaded(place)
        home = said(place.client(place.staff("facility manager")).get(f"/t/{place.tenant.slug}/"))
        [headline] = re.findall(r"(?:About|At least) \d+ in the building(?:; [a-z ]+loaded)?", home)
        assert headline in said(page(place))


def test_a_guest_is_no_member(place):
    area(place, "Lobby", IN="in", OUT="out")
    guest = visit(place, "山田")
    told(place, passage(guest.guest_id, "IN", 5))
    assert members_in(place) == {}
    assert "At least 1 in the building" in said(page(place))


def test_the_list_is_narrowed_searched_and_taken_along(place):
    furnish(place)
    assert "相沢" not in said(page(place, certainty="likely"))
    assert "馬場" not in said(page(place, area="Lobby")).partition("in the building")[2]
    assert "馬場" not in said(page(place, q="相沢")).partition("in the building")[2]
    assert "No people in the building match" in said(page(place, q="zzz"))
    file = b"".join(page(place, rest="csv/").streaming_content).decode("utf-8-sig")
    assert "相沢" in file
    assert "馬場" in file


def test_the_list_follows_while_somebody_looks(place):
    furnish(place)
    client = place.client(place.staff("receptionist"))
    address = f"/t/{place.tenant.slug}/guests/building/board/"
    seen = client.get(address).content.decode().split('data-version="')[1].split('"')[0]
    assert client.get(address, headers={"X-Version": seen}).status_code == 204
    told(place, passage("m-3", "IN", 1))
    assert "千葉" in client.get(address, headers={"X-Version": seen}).content.decode()


@pytest.mark.parametrize("role", ["receptionist", "guard", "auditor", "facility manager"])
def test_who_takes_roll_calls_or_sees_the_log_sees_the_members(place, role):
    furnish(place)
    assert "相沢" in said(page(place, role))


def test_nobody_else_does(place, monkeypatch):
    monkeypatch.setattr(Receptionist, "permissions", Receptionist.permissions - {Permission.ROLL_CALL})
    furnish(place)
    words = said(page(place))
    assert "相沢" not in words
    assert "Members, staff and people who tailgated are not included" in words
    assert "相沢" not in b"".join(page(place, rest="csv/").streaming_content).decode("utf-8-sig")


def test_many_people_cost_the_same_few_statements(place):
    furnish(place)
    client = place.client(place.staff("receptionist"))

    def asked():
        with CaptureQueriesContext(connection) as captured:
            assert client.get(f"/t/{place.tenant.slug}/guests/building/").status_code == 200
        return len(captured)

    asked()
    few = asked()
    now = timezone.now()
    with tenant_scope(place.tenant):
        Member.objects.bulk_create(Member(member_id=f"n{n}", member_name=f"N{n}", name_key=f"n{n}") for n in range(300))
        LastPassage.objects.bulk_create(
            LastPassage(member_id=f"n{n}", at=now, history_id=f"n{n}", device_id="IN") for n in range(300)
        )
    assert asked() == few <= 14


class TestAWordForTheSideThatNobodyKnows:
    """A service with an unknown word for a side: no one counts as having left by such a door."""

    @pytest.mark.parametrize("side", ["both", "IN/OUT", "", None, 7, ["out"]])
    def test_keeps_people_in(self, place, side):
        area(place, "Lobby", IN="in", GATE=side)
        member(place, "m-1", "相沢")
        told(place, passage("m-1", "IN", 9), passage("m-1", "GATE", 5))
        assert members_in(place)["相沢"].certainty == "likely"
        assert "相沢" in said(page(place))

    def test_is_shown_as_it_is(self, place):
        area(place, "Lobby", IN="in", GATE="both")
        client = place.client(place.staff("facility manager"))
        with tenant_scope(place.tenant):
            PassController.objects.create(device_id="GATE", device_name="Gate")
        for path in ("areas/a-Lobby/", "devices/GATE/"):
            assert "<code>both</code>" in client.get(f"/t/{place.tenant.slug}/{path}").content.decode(), path

    def test_means_what_the_file_says(self, make):
        elsewhere = make(overrides='[states]\nway_in = ["enters"]\nway_out = ["leaves", "exit_*"]')
        area(elsewhere, "Lobby", IN="enters", OUT="exit_2")
        member(elsewhere, "m-1", "相沢")
        told(elsewhere, passage("m-1", "IN", 9))
        assert members_in(elsewhere)["相沢"].certainty == "entry"
        told(elsewhere, passage("m-1", "OUT", 5))
        assert members_in(elsewhere) == {}
