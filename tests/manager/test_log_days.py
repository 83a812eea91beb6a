"""A facility manager views a person's day as a line of places, and a door's day by the hour."""

import re
from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from portal.base.ui.times import TOKYO
from portal.domain.history.coverage import start_of_day
from portal.domain.history.models import History, HistoryDay
from portal.domain.places.models import PassController
from portal.domain.sync.models import MirrorState
from portal.history.days import RecordType, type_expression, type_of
from tenants.scope import tenant_scope
from tests.support.log import area, clock, happened, loaded, record
from tests.support.members import said

TODAY = timezone.now().astimezone(TOKYO).date()
DAY = TODAY - timedelta(days=3)


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="正面 入口")
    loaded(place)
    return place


def of_person(place, client, member_id="m-1", day=DAY):
    return client.get(reverse("history:person_day", args=[place.tenant.slug, member_id, str(day)]))


def of_door(place, client, device_id="D1", day=DAY):
    return client.get(reverse("history:door_day", args=[place.tenant.slug, device_id, str(day)]))


def passed(at, door="D1", day=DAY, **more):
    who = {"member_id": "m-1", "member_name": "佐藤 花子", "device_name": f"Door {door}"}
    return record(clock(at, day), **{**who, "device_id": door, **more})


def shapes(answer):
    """Return the shapes on the lanes, in their order."""
    return re.findall(r'class="mark mark-(\w+)"', answer.content.decode())


class TestAPersonsDay:
    def test_passings_stand_in_the_lanes_of_their_areas_with_the_time_between_them(self, one, manager):
        area(one, "Lab", D1="in", D2="out")
        happened(
            one,
            passed("09:00"), passed("12:15", "D2"), passed("13:00"),
            passed("14:00", "D1", category="suspicious", content="No permission"),
            passed("15:00", "D9", content="Elsewhere"),
        )  # fmt: skip
        answer = of_person(one, manager)
        words = said(answer)
        assert shapes(answer) == ["in", "out", "in", "refused", "in"]
        assert "Lab 3 h 15 min" in words
        assert "First seen 09:00 Door D1" in words
        assert "Last seen 15:00 Door D9" in words
        assert "Entries and exits 4" in words
        assert "Refused 1" in words
        assert "From 13:00, no exit recorded" in words
        assert words.index("Lab 3 h") < words.rindex("Door D9", 0, words.index("15:00:00"))

    def test_without_doors_of_both_kinds_there_is_no_time_inside(self, one, manager):
        area(one, "Lab", D1="in")
        happened(one, passed("09:00"), passed("12:00"))
        answer = of_person(one, manager)
        assert "Known time inside" not in said(answer)
        assert 'class="stay' not in answer.content.decode()

    def test_the_table_behind_has_each_record_with_its_page(self, one, manager):
        rows = happened(one, passed("09:00:07"), passed("10:00", category="operation", content="Key lent", units=[]))
        html = of_person(one, manager).content.decode()
        for row in rows:
            assert html.count(f"/logs/records/{row.history_id}/") == 3  # the row, its link, and the mark on the line
        assert "09:00:07" in html

    def test_other_days_other_people_and_midnight_are_told_apart(self, one, manager):
        happened(
            one,
            passed("00:00", content="First of the day"), passed("23:59:59", content="Last of the day"),
            passed("00:00", day=DAY + timedelta(days=1), content="The next day"),
            passed("10:00", member_id="m-2", content="Of another"),
        )  # fmt: skip
        html = of_person(one, manager).content.decode()
        assert "First of the day" in html
        assert "Last of the day" in html
        assert "The next day" not in html
        assert "Of another" not in html

    def test_the_days_beside_it_are_a_click_away_and_none_after_today(self, one, manager):
        happened(one, passed("09:00"))
        html = of_person(one, manager).content.decode()
        assert f"/people/m-1/{DAY - timedelta(days=1)}/" in html
        assert f"/people/m-1/{DAY + timedelta(days=1)}/" in html
        assert 'rel="next"' not in of_person(one, manager, day=TODAY).content.decode()

    def test_a_loaded_day_without_records_says_so(self, one, manager):
        happened(one, passed("09:00"))
        assert "No activity on this day" in said(of_person(one, manager, day=DAY - timedelta(days=1)))

    def test_a_day_that_is_not_loaded_says_so_and_what_loading_it_costs(self, one, manager):
        happened(one, passed("09:00"))
        loaded(one, days=2)
        long_ago = DAY - timedelta(days=9)
        answer = of_person(one, manager, day=long_ago)
        words = said(answer)
        assert f"{long_ago} not loaded." in words
        assert f"Load {long_ago} (about 1 API call)" in words
        assert "No activity on this day" not in words
        assert "<svg class=" not in words
        form = {"day": str(long_ago), "next": answer.wsgi_request.path}
        after = manager.post(reverse("mirror:days", args=[one.tenant.slug]), form, follow=True)
        assert f"Loading {long_ago}." in said(after)

    def test_a_log_that_was_never_read_and_one_that_lags_say_so(self, one, manager):
        happened(one, passed("09:00"))
        loaded(one, ago=86400 * 4)
        assert f"Complete through {DAY - timedelta(days=1)}" in said(of_person(one, manager))
        with tenant_scope(one.tenant):
            MirrorState.objects.all().delete()
        words = said(of_person(one, manager, day=DAY - timedelta(days=1)))
        assert "The activity log is not loaded yet." in words
        assert "No activity on this day" not in words

    def test_an_older_day_that_was_loaded_counts_as_loaded(self, one, manager):
        happened(one, passed("09:00"))
        loaded(one, days=1)
        with tenant_scope(one.tenant):
            HistoryDay.objects.create(day=DAY - timedelta(days=1), read_at=timezone.now())
        assert "No activity on this day" in said(of_person(one, manager, day=DAY - timedelta(days=1)))

    def test_two_hundred_records_ask_the_database_as_often_as_two(self, one, manager):
        area(one, "Lab", D1="in", D2="out")
        happened(one, passed("09:00"), passed("10:00", "D2"))
        of_person(one, manager)

        def asked():
            with CaptureQueriesContext(connection) as queries:
                assert of_person(one, manager).status_code == 200
            return len(queries)

        few = asked()
        happened(one, *[passed(f"{8 + n // 60:02d}:{n % 60:02d}", f"D{n % 7}") for n in range(200)])
        assert asked() == few
        assert few <= 12

    def test_of_very_many_the_first_ones_are_shown_and_it_is_said(self, one, manager):
        happened(one, *[passed(f"09:{n // 60 % 60:02d}:{n % 60:02d}", content=f"No. {n}.") for n in range(520)])
        answer = of_person(one, manager)
        assert "The first 500 records of this day are shown." in said(answer)
        assert "No. 499." in answer.content.decode()
        assert "No. 500." not in answer.content.decode()


class TestADoorsDay:
    def test_hours_are_counted_by_what_happened_and_lead_to_the_log(self, one, manager):
        happened(
            one,
            passed("08:10"), passed("08:59:59"), passed("09:00"),
            passed("09:05", category="suspicious"), passed("09:06", category="warning"),
            record(clock("09:30", DAY), device_id="D1", category="emergency", content="Door forced open"),
            record(clock("09:40", DAY), device_id="D1", category="emergency", status="restore"),
            record(clock("11:00", DAY), device_id="D1", category="operation", content="Remote lock"),
            record(clock("11:01", DAY), device_id="D2", category="normal"),
        )  # fmt: skip
        answer = of_door(one, manager)
        html, words = answer.content.decode(), said(answer)
        assert "Entries 3 Refused 2 Alarms and faults 1 Other 2 Busiest hour 09:00–10:00 5" in words
        assert "08:00 2 – – – 2" in words
        assert "09:00 1 2 1 1 5" in words
        assert "10:00 – – – – –" in words
        assert "11:00 – – – 1 1" in words
        assert "12:00 –" not in words
        assert one.tenant.environment.catalogue.states.service_word("Door forced open") in words
        assert [html.count(f'class="part part-{sort}"') for sort in ("entry", "refused", "alarm", "other")] == [
            2,
            1,
            1,
            2,
        ]

    def test_the_doors_own_page_leads_to_it(self, one, manager):
        happened(one, passed("00:00", day=TODAY))
        page = manager.get(reverse("devices:door", args=[one.tenant.slug, "D1"])).content.decode()
        assert f"/logs/doors/D1/{TODAY}/" in page

    def test_an_empty_and_an_unloaded_day_differ(self, one, manager):
        assert "No activity on this day" in said(of_door(one, manager))
        loaded(one, days=1)
        words = said(of_door(one, manager, day=DAY - timedelta(days=9)))
        assert f"{DAY - timedelta(days=9)} not loaded." in words
        assert "No activity on this day" not in words

    def test_a_busy_day_is_one_count_in_the_database(self, one, manager):
        happened(one, passed("09:00"), passed("09:01", category="suspicious"))
        of_door(one, manager)

        def asked():
            with CaptureQueriesContext(connection) as queries:
                assert of_door(one, manager).status_code == 200
            return [each["sql"] for each in queries if "history_history" in each["sql"].lower()]

        few = asked()
        happened(one, *[passed(f"{n % 24:02d}:{n % 60:02d}") for n in range(400)])
        assert len(asked()) == len(few) <= 4


BAD = ["0000-00-00", "9999-12-31", "2026-13-01", "2026-02-30", "1999-12-31", "x", "2026-1-1", "-1", "20261101"]


class TestOthers:
    @pytest.mark.parametrize("day", [*BAD])
    def test_what_is_no_day_is_not_found(self, one, manager, day):
        happened(one, passed("09:00"))
        slug = one.tenant.slug
        for path in (f"/t/{slug}/logs/people/m-1/{day}/", f"/t/{slug}/logs/doors/D1/{day}/"):
            assert manager.get(path).status_code == 404

    def test_a_day_to_come_has_nothing_and_says_no_wrong_thing(self, one, manager):
        happened(one, passed("09:00"))
        answer = of_person(one, manager, day=TODAY + timedelta(days=400))
        assert answer.status_code == 200

    @pytest.mark.parametrize("name", ["nobody", "a/b", "x\x00", "..", "日本"])
    def test_people_and_doors_of_whom_nothing_is_known_are_not_found(self, one, manager, name):
        assert of_person(one, manager, name).status_code == 404
        assert of_door(one, manager, name).status_code == 404

    def test_people_and_doors_of_another_tenant_are_not_found(self, one, make, manager):
        other = make()
        with tenant_scope(other.tenant):
            PassController.objects.create(device_id="D-theirs", device_name="Theirs")
        happened(other, passed("09:00", "D-theirs", member_id="m-theirs"))
        assert of_person(one, manager, "m-theirs").status_code == 404
        assert of_door(one, manager, "D-theirs").status_code == 404

    def test_a_guard_sees_today_alone(self, one):
        guard = one.client(one.staff("guard"))
        happened(one, passed("00:00", day=TODAY), passed("09:00", day=TODAY - timedelta(days=1)))
        assert of_person(one, guard, day=TODAY).status_code == 200
        assert of_person(one, guard, day=TODAY - timedelta(days=1)).status_code == 404
        assert of_door(one, guard, day=TODAY - timedelta(days=1)).status_code == 404
        html = of_door(one, guard, day=TODAY).content.decode()
        assert 'rel="prev"' not in html
        assert "Load this day" not in html

    def test_whom_the_guard_may_not_know_otherwise_has_no_page(self, one):
        guard = one.client(one.staff("guard"))
        happened(one, passed("09:00", day=TODAY - timedelta(days=1)))
        assert of_person(one, guard, day=TODAY).status_code == 404

    def test_the_desk_sees_no_day(self, one):
        desk = one.client(one.staff("receptionist"))
        assert of_person(one, desk).status_code == 403
        assert of_door(one, desk).status_code == 403


MEANT = [
    {"category": category, "status": status, **who}
    for category in ("normal", "operation", "suspicious", "warning", "error", "emergency", "of_another_version", "")
    for status in ("occur", "restore", "")
    for who in ({}, {"member_id": "m-1"}, {"member_name": "Somebody"})
]


def test_the_database_sorts_records_as_pages_do(one):
    words = one.tenant.environment.catalogue
    rows = happened(one, *[passed("09:00", **{"member_id": "", "member_name": "", **each}) for each in MEANT])
    with tenant_scope(one.tenant):
        found = dict(History.objects.annotate(sort=type_expression(words)).values_list("pk", "sort"))
    assert [found[row.pk] for row in rows] == [type_of(row, words) for row in rows]
    assert set(found.values()) == set(RecordType.values)


def test_days_begin_at_midnight_in_tokyo():
    assert start_of_day(date(2026, 11, 21)).isoformat() == "2026-11-21T00:00:00+09:00"
