"""A facility manager changes an alert rule, and first tests it against the past month."""

from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from portal.base.ui.times import TOKYO
from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import DetectionState, Rule
from portal.domain.alerts.rules import ALERT_RULE, Hours
from tenants.models import AuditEntry
from tenants.roles import FacilityManager
from tenants.scope import tenant_scope
from tests.support.log import happened, loaded, record
from tests.support.members import said

REFUSED = {"is_on": "on", "severity": "3", "count": "3", "minutes": "10", "quiet": "15"}


@pytest.fixture
def one(place):
    with tenant_scope(place.tenant):
        DetectionState.objects.create(tenant=place.tenant)
    loaded(place, days=20)
    return place


def at(place, name="alerts:rules", *more):
    return reverse(name, args=[place.tenant.slug, *more])


def rule(place):
    with tenant_scope(place.tenant):
        return Rule.objects.first()


class TestChanging:
    def test_the_ready_rules_are_on_but_for_the_one_that_needs_hours(self, one, manager):
        page = said(manager.get(at(one)))
        for title in (
            "Door forced open",
            "Door left open",
            "Device offline",
            "Repeated refusals",
            "Webhook notifications stopped",
        ):
            assert title in page
        assert page.count("Off ·") == 1

    def test_a_rule_is_changed_and_written_down(self, one, manager):
        answer = manager.post(at(one, "alerts:rule", "refused"), REFUSED, follow=True)
        assert "Rule saved." in said(answer)
        assert rule(one).values == {"count": 3, "minutes": 10, "quiet": 15}
        with tenant_scope(one.tenant):
            entry = AuditEntry.objects.get(action="alert_rule.change")
        assert str(entry.summary) == "Alert rule changed: Repeated refusals"
        assert (entry.before["count"], entry.after["count"]) == (5, 3)

    @pytest.mark.parametrize("kind", sorted(KINDS))
    def test_each_rule_is_saved_with_its_own_numbers(self, one, manager, kind):
        numbers = {each.name: str(each.default) for each in KINDS[kind].all_settings} | {"quiet": "14"}
        hours = {"days": ["0"], "begin": "22:00", "end": "06:00"} if KINDS[kind].has_hours else {}
        form = {"is_on": "on", "severity": "3"} | numbers | hours
        assert "Rule saved." in said(manager.post(at(one, "alerts:rule", kind), form, follow=True))

    def test_numbers_have_bounds_and_hours_are_whole(self, one, manager):
        page = said(manager.post(at(one, "alerts:rule", "refused"), REFUSED | {"count": "1"}))
        assert "2" in page
        assert rule(one) is None
        page = said(manager.post(at(one, "alerts:rule", "refused"), REFUSED | {"days": ["0"]}))
        assert "Enter a start and end time." in page
        page = said(manager.post(at(one, "alerts:rule", "refused"), REFUSED | {"begin": "09:00"}))
        assert "Choose the days." in page
        assert rule(one) is None

    def test_the_bounds_of_a_number_are_said_once(self, one, manager):
        page = said(manager.get(at(one, "alerts:rule", "left_open")))
        assert page.count("1 to 1440") == len(KINDS["left_open"].all_settings)

    def test_out_of_hours_is_not_switched_on_without_hours(self, one, manager):
        said_without = {"is_on": "on", "severity": "2", "quiet": "15"}
        page = said(manager.post(at(one, "alerts:rule", "out_of_hours"), said_without))
        assert "Choose the closed hours." in page
        with_hours = said_without | {"days": ["0", "5"], "begin": "22:00", "end": "06:00"}
        assert "Rule saved." in said(manager.post(at(one, "alerts:rule", "out_of_hours"), with_hours, follow=True))
        assert rule(one).hours == {"days": [0, 5], "begin": "22:00", "end": "06:00"}

    def test_hours_over_midnight_are_shown_as_such_before_they_are_saved(self, one, manager):
        assert "An end before the start is on the next day." in said(manager.get(at(one, "alerts:rule", "refused")))
        with tenant_scope(one.tenant):
            values = dict(ALERT_RULE.read("refused"))
        for end, text in {
            "23:00": "Mon, 22:00 to 23:00",
            "06:00": "Mon, 22:00 to 06:00 the next day",
        }.items():
            hours = {"days": [0], "begin": "22:00", "end": end}
            assert ALERT_RULE.describe("refused", values | {"hours": hours})["Days and hours"] == text


class TestTrying:
    def test_it_says_how_often_and_when_it_would_have_fired_and_keeps_nothing(self, one, manager):
        for days in (1, 3, 3.5):
            moment = timezone.now() - timedelta(days=days)
            happened(
                one,
                *(
                    record(moment + timedelta(minutes=number), category="warning", member_id="m-1")
                    for number in range(4)
                ),
            )
        page = said(manager.post(at(one, "alerts:rule", "refused"), REFUSED | {"try": "1"}))
        assert "It would have raised at least 3 alerts." in page
        day = (timezone.now() - timedelta(days=1)).astimezone(TOKYO).date().isoformat()
        assert day in page
        assert "not loaded." in page, "ten of the thirty days are not known"
        assert rule(one) is None

    def test_who_may_not_read_the_log_tries_nothing(self, one, manager):
        moment = timezone.now() - timedelta(days=1)
        happened(one, *(record(moment, category="warning", member_id="m-1") for _ in range(4)))
        with patch.object(FacilityManager, "permissions", FacilityManager.permissions - {"logs_view"}):
            page = said(manager.post(at(one, "alerts:rule", "refused"), REFUSED | {"try": "1"}))
        assert "It would have raised" not in page
        assert rule(one) is None

    def test_another_count_fires_less_often(self, one, manager):
        moment = timezone.now() - timedelta(days=1)
        happened(one, *(record(moment, category="warning", member_id="m-1") for _ in range(4)))
        page = said(manager.post(at(one, "alerts:rule", "refused"), REFUSED | {"count": "5", "try": "1"}))
        assert "No alerts in the part of the log that was checked." in page

    def test_a_test_that_leaves_records_out_finds_at_least_so_many(self, one, manager, monkeypatch):
        loaded(one, days=31)
        moment = timezone.now() - timedelta(days=1)
        happened(one, *(record(moment, category="warning", member_id="m-1") for _ in range(4)))
        form = REFUSED | {"try": "1"}
        monkeypatch.setattr("portal.domain.alerts.past_log.MAX_RECORDS", 4)
        assert "It would have raised 1 alert." in said(manager.post(at(one, "alerts:rule", "refused"), form))
        monkeypatch.setattr("portal.domain.alerts.past_log.MAX_RECORDS", 3)
        page = said(manager.post(at(one, "alerts:rule", "refused"), form))
        assert "It would have raised at least 1 alert. Only the newest" in page

    def test_forced_doors_are_found_by_the_words_of_the_service(self, one, manager):
        moment = timezone.now() - timedelta(days=2)
        loaded(one, days=31)
        happened(one, record(moment, category="emergency", content="forced_open", device_id="D1"))
        form = {"is_on": "on", "severity": "3", "quiet": "15", "try": "1"}
        assert "It would have raised 1 alert." in said(manager.post(at(one, "alerts:rule", "forced"), form))

    @pytest.mark.parametrize(("kind", "event"), [("forced", "forced_open"), ("left_open", "open_too_long")])
    @pytest.mark.parametrize(
        ("hours", "result"), [(5, "It would have raised at least 1 alert."), (3, "No alerts in the part of the log")]
    )
    def test_a_door_still_open_when_the_hours_begin_counts(self, one, manager, kind, event, hours, result):
        night = (timezone.now() - timedelta(days=2)).astimezone(TOKYO).replace(hour=5)
        door = {"category": "emergency", "content": event, "device_id": "D1"}
        happened(one, record(night, **door), record(night + timedelta(hours=hours), status="restore", **door))
        rest = {"days": [str(each) for each in range(7)], "begin": "09:00", "end": "17:00", "minutes": "5", "try": "1"}
        form = {"is_on": "on", "severity": "3", "quiet": "15"} | rest
        assert result in said(manager.post(at(one, "alerts:rule", kind), form))

    def test_a_log_too_long_to_search_while_somebody_waits_is_given_up(self, one, manager, monkeypatch):
        def slow(*_):
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(2)")
            return ()

        monkeypatch.setattr("portal.domain.alerts.actions._TRIAL_SECONDS", 0.1)
        monkeypatch.setitem(KINDS, "refused", replace(KINDS["refused"], find_in_past=slow))
        page = said(manager.post(at(one, "alerts:rule", "refused"), REFUSED | {"try": "1"}))
        assert "The log is too long to test this rule." in page

    def test_what_the_log_does_not_tell_is_said(self, one, manager):
        form = {"is_on": "on", "severity": "3", "quiet": "15", "minutes": "15", "try": "1"}
        page = said(manager.post(at(one, "alerts:rule", "offline"), form))
        assert "This rule cannot be tested." in page


def test_hours_over_midnight_are_those_of_the_day_that_they_begin_on():
    hours = Hours.of({"days": [0], "begin": "22:00", "end": "06:00"})
    monday = timezone.datetime(2026, 11, 23, 23, 0, tzinfo=TOKYO)
    assert hours.includes(monday)
    assert hours.includes(monday + timedelta(hours=6))
    assert not hours.includes(monday + timedelta(hours=8))
    assert not hours.includes(monday - timedelta(hours=20))


def test_hours_begin_next_on_the_first_of_their_days():
    hours = Hours.of({"days": [0, 3], "begin": "22:00", "end": "06:00"})
    monday = timezone.datetime(2026, 11, 23, 22, 0, tzinfo=TOKYO)
    assert hours.next_begin(monday - timedelta(minutes=1)) == monday
    assert hours.next_begin(monday) == monday + timedelta(days=3)
    assert hours.next_begin(monday + timedelta(days=3)) == monday + timedelta(days=7)
