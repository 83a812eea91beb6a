"""A guard works with alerts: sees them, assigns one, adds notes and closes it. No one is notified twice."""

import re
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from portal.domain import events
from portal.domain.alerts import detection
from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Alert, DetectionState, Rule
from portal.domain.events import MirrorKind
from portal.domain.places.models import PassController
from tenants.models import AuditEntry
from tenants.scope import tenant_scope
from tests.support.log import happened, loaded, record
from tests.support.members import said


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        PassController.objects.create(device_id="D1", device_name="倉庫 入口")
        DetectionState.objects.create(tenant=place.tenant, since=timezone.now() - timedelta(days=1))
    loaded(place)
    return place


@pytest.fixture
def guard(one):
    return one.client(one.staff("guard"))


def at(place, name="alerts:index", *more):
    return reverse(name, args=[place.tenant.slug, *more])


def told(place, *records):
    """Load these records into the log and publish them."""
    rows = happened(place, *records)
    tell(place, rows)
    return rows


def tell(place, rows):
    with tenant_scope(place.tenant):
        events.publish(MirrorKind.HISTORIES, place.tenant, histories=rows)


def refused(minutes_ago, **said):
    moment = timezone.now() - timedelta(minutes=minutes_ago)
    who = {"member_id": "m-7", "member_name": "佐藤 花子", "device_id": "D1", "device_name": "倉庫 入口"}
    return record(moment, category="warning", content="Refused", **(who | said))


def forced(minutes_ago, **said):
    moment = timezone.now() - timedelta(minutes=minutes_ago)
    about = {"device_id": "D1", "device_name": "倉庫 入口", "category": "suspicious", "content": "forced_open"}
    return record(moment, **(about | said))


def alerts(place, kind):
    with tenant_scope(place.tenant):
        return list(Alert.objects.filter(kind=kind).order_by("pk"))


def look(place):
    with tenant_scope(place.tenant):
        detection.check_tenant()


class TestWhatBecomesAnAlert:
    def test_repeated_refusals_of_one_person_are_one_alert(self, one, guard):
        told(one, *(refused(5 - number) for number in range(5)))
        page = said(guard.get(at(one)))
        assert "佐藤 花子: refused 5 times within 10 minutes, last at 倉庫 入口." in page
        assert len(alerts(one, "refused")) == 1

    def test_fewer_refusals_are_none(self, one):
        told(one, *(refused(4 - number) for number in range(4)))
        assert alerts(one, "refused") == []

    def test_unknown_credentials_count_by_device(self, one, guard):
        told(one, *(refused(5 - number, member_id="", member_name="") for number in range(5)))
        assert "Unknown credential: refused 5 times" in said(guard.get(at(one)))

    def test_a_door_forced_open_is_an_alarm_and_ends_when_the_log_says_so(self, one, guard):
        told(one, forced(3))
        assert "倉庫 入口 has been forced open." in said(guard.get(at(one)))
        told(one, forced(1, status="restore"))
        assert alerts(one, "forced")[0].ended_at is not None

    @pytest.mark.parametrize("at_once", [True, False], ids=["read together", "one by one"])
    def test_a_door_that_flaps_is_one_alert_that_counts_and_ends_with_the_last(self, one, at_once):
        states = ["occur", "restore"] * 15
        records = [forced(2 - number / 60, status=word) for number, word in enumerate(states)]
        for part in [records] if at_once else [[each] for each in records]:
            told(one, *part)
        [alert] = alerts(one, "forced")
        assert (alert.times, alert.ended_at) == (15, records[-1].at)

    @pytest.mark.parametrize(("kind", "state"), [("left_open",) * 2, ("left_open", "open"), ("offline",) * 2])
    def test_one_that_comes_and_goes_around_its_minutes_is_one_as_well(self, one, kind, state):
        for _ in range(3):
            for found, minutes in ((state, 4), (state, 16), ("locked", 0)):
                self.door(one, found, minutes=minutes)
                look(one)
        [alert] = alerts(one, kind)
        assert alert.times == 3
        assert alert.ended_at is not None

    def test_a_device_offline_is_one_after_its_minutes_and_ends_when_it_is_back(self, one):
        self.door(one, "offline", minutes=10)
        look(one)
        assert alerts(one, "offline") == []
        self.door(one, "offline", minutes=20)
        look(one)
        look(one)
        assert [(each.times, each.ended_at) for each in alerts(one, "offline")] == [(1, None)]
        self.door(one, "locked", minutes=0)
        look(one)
        assert alerts(one, "offline")[0].ended_at is not None

    def test_what_is_older_than_the_watch_is_none(self, one):
        told(one, forced(60 * 30))
        assert alerts(one, "forced") == []

    def test_out_of_hours_is_one_within_the_hours_that_are_set(self, one):
        told(one, record(timezone.now(), device_id="D1", member_id="m-7"))
        assert alerts(one, "out_of_hours") == []
        with tenant_scope(one.tenant):
            always = {"days": list(range(7)), "begin": "00:00", "end": "23:59"}
            Rule.objects.create(kind="out_of_hours", is_on=True, severity=2, hours=always)
        with patch("portal.domain.alerts.rules.Hours.includes", return_value=True):
            told(one, record(timezone.now(), device_id="D1", member_id="m-7"))
        assert len(alerts(one, "out_of_hours")) == 1

    def test_a_device_that_is_still_offline_when_the_hours_begin_is_one(self, one):
        self.door(one, "offline", minutes=40)
        now = timezone.localtime()
        hours = {"days": list(range(7)), "end": f"{now + timedelta(minutes=20):%H:%M}"}
        for minutes, number in ((5, 0), (-5, 1)):
            begin = f"{now + timedelta(minutes=minutes):%H:%M}"
            with tenant_scope(one.tenant):
                Rule.objects.update_or_create(
                    kind="offline", defaults={"is_on": True, "severity": 2, "hours": hours | {"begin": begin}}
                )
            look(one)
            assert len(alerts(one, "offline")) == number

    def door(self, place, state, minutes):
        since = timezone.now() - timedelta(minutes=minutes)
        with tenant_scope(place.tenant):
            PassController.objects.filter(device_id="D1").update(state=state, state_since=since)


class TestNoneLostNoneDoubled:
    def test_records_told_twice_count_once(self, one):
        rows = told(one, forced(3), forced(2))
        tell(one, rows)
        assert [(each.times) for each in alerts(one, "forced")] == [2]

    def test_what_a_kind_failed_at_is_found_at_the_next_look(self, one, monkeypatch):
        kind = KINDS["forced"]
        broken = type(kind)(**{**vars(kind), "find_in_new_records": lambda *_: 1 / 0})
        monkeypatch.setitem(KINDS, "forced", broken)
        told(one, forced(3))
        monkeypatch.setitem(KINDS, "forced", kind)
        told(one, forced(2))
        assert alerts(one, "forced") == []
        look(one)
        assert [each.times for each in alerts(one, "forced")] == [2]
        with tenant_scope(one.tenant):
            assert DetectionState.objects.get().behind == {}

    def test_one_kind_that_fails_takes_no_other_along(self, one, monkeypatch):
        kind = KINDS["forced"]
        monkeypatch.setitem(KINDS, "forced", type(kind)(**{**vars(kind), "find_in_new_records": lambda *_: 1 / 0}))
        told(one, record(timezone.now(), category="suspicious", content="Odd", device_id="D1"))
        assert len(alerts(one, "suspicious")) == 1

    def test_500_events_of_50_doors_are_50_alerts_with_every_record(self, one):
        told(one, *(forced(8, device_id=f"D{number % 50}", device_name="") for number in range(500)))
        found = alerts(one, "forced")
        assert len(found) == 50
        with tenant_scope(one.tenant):
            assert sum(each.records.count() for each in found) == 500


class TestWorkingWithOne:
    @pytest.fixture
    def alert(self, one):
        told(one, forced(3, device_id="D2"))  # a door that no banner shows
        return alerts(one, "forced")[0]

    def test_its_page_tells_what_when_and_by_which_records(self, one, guard, alert):
        page = said(guard.get(at(one, "alerts:alert", alert.pk)))
        for text in (
            "倉庫 入口 has been forced open.",
            "Alarm",
            "Ongoing",
            "1 log record",
            "Door forced open",
            "Assign to me",
        ):
            assert text in page

    def test_what_a_look_found_is_shown_with_the_record_that_the_log_has_of_it(self, one, guard):
        with tenant_scope(one.tenant):
            DetectionState.objects.update(since=timezone.now())
            PassController.objects.create(
                device_id="D9", device_name="裏口", state="forced_open", state_since=timezone.now(), attention=True
            )
        told(one, forced(90, device_id="D9", status="restore"), forced(80, device_id="D9"))
        look(one)
        [found] = alerts(one, "forced")
        page = said(one.client(one.owner).get(at(one, "alerts:alert", found.pk)))
        assert "1 log record" in page
        assert "Door forced open" in page

    def test_of_what_a_look_found_it_is_said_how_far_the_log_was_searched(self, one, guard):
        loaded(one)
        with tenant_scope(one.tenant):
            PassController.objects.create(
                device_id="D9", device_name="裏口", state="forced_open", state_since=timezone.now(), attention=True
            )
        look(one)
        [found] = alerts(one, "forced")
        page = said(guard.get(at(one, "alerts:alert", found.pk)))
        assert re.search(r"No record of this found in the activity log since [-\d: ]+. Activity log complete", page)

    def test_the_second_who_takes_it_is_told_who_was_first(self, one, guard, alert):
        other = one.client(one.owner)
        answer = guard.post(at(one, "alerts:take", alert.pk), follow=True)
        assert "Assigned to you." in said(answer)
        assert "Already assigned to" in said(other.post(at(one, "alerts:take", alert.pk), follow=True))
        assert "Unassign" in said(guard.get(at(one, "alerts:alert", alert.pk)))
        guard.post(at(one, "alerts:give_back", alert.pk))
        assert "Assigned to you." in said(other.post(at(one, "alerts:take", alert.pk), follow=True))

    def test_only_who_took_it_releases_it(self, one, guard, alert):
        guard.post(at(one, "alerts:take", alert.pk))
        other = one.client(one.owner)
        assert "Already assigned to" in said(other.post(at(one, "alerts:give_back", alert.pk), follow=True))
        assert "Unassign" in said(guard.get(at(one, "alerts:alert", alert.pk)))
        guard.post(at(one, "alerts:give_back", alert.pk))
        with tenant_scope(one.tenant):
            trail = AuditEntry.objects.filter(target=f"alert:{alert.pk}").order_by("pk")
            assert list(trail.values_list("action", flat=True)) == ["alert.take", "alert.give_back"]

    def test_a_closed_one_is_neither_taken_nor_released(self, one, guard, alert):
        other = one.client(one.owner)
        other.post(at(one, "alerts:take", alert.pk))
        other.post(at(one, "alerts:close", alert.pk), {"text": "Door shut"})
        for act in ("take", "give_back"):
            page = said(other.post(at(one, f"alerts:{act}", alert.pk), follow=True))
            assert "Already closed by" in page
        with tenant_scope(one.tenant):
            assert Alert.objects.get().taken_by == one.owner
        told(one, forced(2, device_id="D3"))
        [_first, second] = alerts(one, "forced")
        guard.post(at(one, "alerts:close", second.pk), {"text": "Door shut"})
        assert "Already closed by" in said(guard.post(at(one, "alerts:take", second.pk), follow=True))

    def test_what_comes_after_it_was_closed_is_another_alert(self, one, guard):
        for minutes in (4, 3):
            told(one, record(timezone.now() - timedelta(minutes=minutes), category="suspicious", content="Odd"))
            guard.post(at(one, "alerts:close", alerts(one, "suspicious")[0].pk), {"text": "Looked"})
        assert [each.times for each in alerts(one, "suspicious")] == [1, 1]

    @pytest.mark.parametrize("act", ["take", "give_back", "note", "close"])
    def test_an_auditor_sees_it_and_does_nothing(self, one, alert, act):
        auditor = one.client(one.staff("auditor"))
        assert "倉庫 入口 has been forced open." in said(auditor.get(at(one, "alerts:alert", alert.pk)))
        assert auditor.post(at(one, f"alerts:{act}", alert.pk), {"text": "Door shut"}).status_code == 403

    def test_a_guard_reads_none_of_its_records_of_yesterday(self, one, guard):
        with tenant_scope(one.tenant):
            DetectionState.objects.update(since=timezone.now() - timedelta(days=3))
        told(one, forced(60 * 48, device_id="D4"))
        [found] = [each for each in alerts(one, "forced") if each.subject.endswith("D4")]
        manager = one.client(one.staff("facility manager"))
        page = at(one, "alerts:alert", found.pk)
        assert "/logs/records/" in manager.get(page).content.decode()
        assert "/logs/records/" not in guard.get(page).content.decode()

    def test_a_note_and_what_was_done_are_kept_and_audited(self, one, guard, alert):
        assert "Note saved." in said(guard.post(at(one, "alerts:note", alert.pk), {"text": "Going there"}, follow=True))
        assert "Enter a note." in said(guard.post(at(one, "alerts:close", alert.pk), {"text": ""}, follow=True))
        page = said(guard.post(at(one, "alerts:close", alert.pk), {"text": "Door shut"}, follow=True))
        assert "Alert closed." in page
        assert "Door shut" in page
        assert "Going there" in page
        with tenant_scope(one.tenant):
            actions = set(AuditEntry.objects.filter(target=f"alert:{alert.pk}").values_list("action", flat=True))
        assert actions == {"alert.note", "alert.close"}
        again = said(guard.post(at(one, "alerts:close", alert.pk), {"text": "Again"}, follow=True))
        assert "Already closed by" in again

    def test_what_can_be_written_down_follows_what_becomes_of_the_alert(self, one, guard, alert):
        def part():
            return guard.get(at(one, "alerts:alert", alert.pk), headers={"X-Version": "-"}).content.decode()

        assert "Save note" in part()
        assert "Close alert" in part()
        guard.post(at(one, "alerts:close", alert.pk), {"text": "Door shut"})
        assert "Save note" in part()
        assert "Close alert" not in part()

    def test_closed_ones_come_after_open_ones(self, one, guard, alert):
        guard.post(at(one, "alerts:close", alert.pk), {"text": "Door shut"})
        told(one, record(timezone.now(), category="suspicious", content="Odd", device_id="D1", device_name="倉庫 入口"))
        page = said(guard.get(at(one)))
        assert page.index("Suspicious event at 倉庫 入口.") < page.index("倉庫 入口 has been forced open.")
        assert "forced open." not in said(guard.get(f"{at(one)}?state=open"))

    def test_a_guard_changes_no_rule(self, one, guard):
        assert "Door forced open" in said(guard.get(at(one, "alerts:rules")))
        assert guard.get(at(one, "alerts:rule", "forced")).status_code == 403

    def test_the_list_costs_at_most_twelve_statements(self, one, guard, alert):
        told(one, *(refused(5 - number, member_id=f"m-{who}") for number in range(5) for who in range(5)))
        guard.get(at(one))
        with CaptureQueriesContext(
            connection,
        ) as caught:
            guard.get(at(one))
        assert len(caught) <= 12, [each["sql"][:90] for each in caught]


class TestBanners:
    def test_a_receptionist_has_none(self, one):
        told(one, *(refused(5 - number) for number in range(5)))
        receptionist = one.client(one.staff("receptionist"))
        page = receptionist.get(reverse("guests:index", args=[one.tenant.slug]))
        assert page.status_code == 200
        assert "refused 5 times" not in page.content.decode()

    def test_a_rule_that_is_switched_off_ends_its_alerts(self, one, guard):
        told(one, forced(3, device_id="D2"))
        with tenant_scope(one.tenant):
            Rule.objects.create(kind="forced", is_on=False, severity=3)
        look(one)
        assert alerts(one, "forced")[0].ended_at is not None

    def test_a_serious_one_stands_on_every_page_until_somebody_takes_it(self, one, guard):
        told(one, *(refused(5 - number) for number in range(5)))
        alert = alerts(one, "refused")[0]
        page = guard.get(at(one, "history:index")).content.decode()
        assert "佐藤 花子: refused 5 times" in page
        assert at(one, "alerts:alert", alert.pk) in page
        guard.post(at(one, "alerts:take", alert.pk))
        guard.get(at(one, "alerts:alert", alert.pk))
        assert "refused 5 times" not in guard.get(at(one, "history:index")).content.decode()

    def test_it_stands_also_when_it_is_over_until_somebody_closes_it(self, one, guard):
        told(one, forced(3, device_id="D2"), forced(1, device_id="D2", status="restore"))
        page = said(guard.get(at(one, "history:index")))
        assert "倉庫 入口 was forced open." in page
        assert "Resolved, unassigned" in page
        guard.post(at(one, "alerts:close", alerts(one, "forced")[0].pk), {"text": "Door shut"})
        assert "Resolved, unassigned" not in said(guard.get(at(one, "history:index")))

    def test_a_door_has_one_banner_for_one_cause(self, one, guard):
        told(one, forced(3))
        page = said(guard.get(at(one, "history:index")))
        assert page.count("倉庫 入口 has been forced open.") == 2, "as the worst state, and on the sheet of all"

    def test_more_than_two_are_counted(self, one, guard):
        told(one, *(forced(3, device_id=f"X{number}", device_name=f"X{number}") for number in range(4)))
        page = said(guard.get(at(one, "history:index")))
        assert page.count("has been forced open.") == 1 + 2, "the worst, and two on the sheet of all"
        assert "2 more alerts" in page


def test_whoever_may_not_see_the_log_reads_nobodys_name(one):
    told(one, *(refused(5 - number) for number in range(5)))
    from tenants.roles import Guard

    with patch.object(Guard, "permissions", Guard.permissions - {"logs_today"}):
        client = one.client(one.staff("guard"))
        pages = said(client.get(at(one))) + said(client.get(at(one, "alerts:alert", alerts(one, "refused")[0].pk)))
    assert "A person: refused 5 times" in pages
    assert "佐藤" not in pages
    assert "You do not have permission to view these records. Ask an owner for it." in pages
