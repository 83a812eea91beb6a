"""`decide` agrees with an oracle that walks through time, at every minute and at every edge."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accessapi.permissions import (
    AreaPlace,
    DecisionRule,
    Holidays,
    KeyPlace,
    all_day,
    always,
    between,
    by_schedule,
    decide,
    decide_place,
    normalise_devices,
    normalise_keys,
    weekly,
)
from accessapi.resources import HolidaySettings, Member
from tests.accessapi import rights as r
from tests.support.effort import examples


def holidays(raw, **kwargs):
    return Holidays.from_settings(HolidaySettings.model_validate(raw), **kwargs)


NONE = {
    "is_include_public_holiday": False, "public_holiday": {}, "include_date": {}, "exclude_date": {}, "weekly": [],
}  # fmt: skip


def area(pass_):
    return {"default_mode": "option", "areas_list": [{"area_id": "a1", "pass": pass_}]}


@given(r.devices(), r.holiday_settings())
@settings(max_examples=examples(200), deadline=None)
def test_areas_agree_with_the_oracle_at_every_edge(rights, raw):
    calendar = holidays(raw)
    normal = normalise_devices(rights)
    for day in r.DAYS:
        for second in r.interesting_seconds(rights):
            at = r.moment(day, second)
            for area_id in (*r.AREAS, "elsewhere"):
                wanted = r.oracle_area(rights, area_id, raw, day, second)
                assert decide_place(rights, AreaPlace(area_id), at, calendar).allowed is wanted
                assert decide_place(normal, AreaPlace(area_id), at, calendar).allowed is wanted


@given(r.keys(), r.holiday_settings())
@settings(max_examples=examples(100), deadline=None)
def test_keys_agree_with_the_oracle_at_every_edge(rights, raw):
    calendar = holidays(raw)
    normal = normalise_keys(rights)
    for day in r.DAYS:
        for second in r.interesting_seconds(rights):
            at = r.moment(day, second)
            for box, units in r.BOXES.items():
                for unit in units:
                    wanted = r.oracle_key(rights, box, unit, raw, day, second)
                    assert decide_place(rights, KeyPlace(box, unit), at, calendar).allowed is wanted
                    assert decide_place(normal, KeyPlace(box, unit), at, calendar).allowed is wanted


@given(r.passes(), r.holiday_settings())
@settings(max_examples=examples(12, quick=4), deadline=None)
def test_a_walk_through_every_minute_agrees_with_the_oracle(pass_, raw):
    rights, calendar = area(pass_), holidays(raw)
    for day in r.DAYS:
        for minute in range(1440):
            second = minute * 60
            got = decide_place(rights, AreaPlace("a1"), r.moment(day, second), calendar).allowed
            assert got is r.oracle_pass(pass_, raw, day, second)


@given(st.lists(st.sampled_from(r.NAMES), max_size=7), r.holiday_settings(), r.days)
def test_weekdays_apply_on_holidays_where_the_environment_says_so(week, raw, day):
    rights = area(by_schedule({**all_day(), "week": week}))
    got = decide_place(rights, AreaPlace("a1"), r.moment(day, 5), holidays(raw, weekdays_apply=True)).allowed
    assert got is (r.NAMES[day.weekday()] in week)


def test_a_day_that_is_a_holiday_is_no_weekday_where_the_environment_does_not_say_so():
    monday, calendar = r.FIRST_DAY, holidays({**NONE, "include_date": {r.FIRST_DAY.isoformat(): "創立記念日"}})
    for week, allowed in (("Monday", False), ("Holiday", True)):
        rights = area(by_schedule({**all_day(), "week": [week]}))
        assert decide_place(rights, AreaPlace("a1"), r.moment(monday, 5), calendar).allowed is allowed


def test_all_day_covers_the_first_and_the_last_second_and_its_fractions():
    rights = area(by_schedule(all_day("Monday")))
    monday = datetime(2026, 4, 27, tzinfo=r.JST)
    last = monday + timedelta(hours=23, minutes=59, seconds=59, microseconds=999_999)
    assert decide_place(rights, AreaPlace("a1"), monday).allowed
    assert decide_place(rights, AreaPlace("a1"), last).allowed
    assert not decide_place(rights, AreaPlace("a1"), last + timedelta(microseconds=1)).allowed
    assert not decide_place(rights, AreaPlace("a1"), monday - timedelta(microseconds=1)).allowed


def test_a_dated_range_runs_over_midnight():
    start, end = datetime(2026, 4, 30, 22, tzinfo=r.JST), datetime(2026, 5, 1, 6, tzinfo=r.JST)
    rights = area(by_schedule(between(start, end)))
    for at, allowed in [
        (start - timedelta(seconds=1), False), (start, True), (datetime(2026, 5, 1, 0, tzinfo=r.JST), True),
        (end, True), (end + timedelta(seconds=1), False),
    ]:  # fmt: skip
        assert decide_place(rights, AreaPlace("a1"), at).allowed is allowed


def test_the_moment_is_compared_at_the_services_offset_wherever_it_comes_from():
    rights = area(by_schedule(weekly("09:00:00", "10:00:00", "Monday")))
    assert decide_place(rights, AreaPlace("a1"), datetime(2026, 4, 27, 0, 30, tzinfo=UTC)).allowed
    with pytest.raises(ValueError, match="time zone"):
        decide_place(rights, AreaPlace("a1"), datetime(2026, 4, 27, 9, 30))  # noqa: DTZ001 - tests no zone


def test_public_holidays_count_where_they_are_included_alone():
    raw = {**NONE, "public_holiday": {"2026-04-29": "昭和の日"}}
    assert not holidays({**raw, "is_include_public_holiday": False}).is_holiday(date(2026, 4, 29))
    assert holidays({**raw, "is_include_public_holiday": True}).name_of(date(2026, 4, 29)) == "昭和の日"


def test_an_excluded_date_is_no_holiday_whatever_else_names_it():
    raw = {
        **NONE, "is_include_public_holiday": True, "public_holiday": {"2026-04-29": "昭和の日"},
        "include_date": {"2026-04-29": "x"}, "exclude_date": {"2026-04-29": ""}, "weekly": ["Wednesday"],
    }  # fmt: skip
    assert not holidays(raw).is_holiday(date(2026, 4, 29))
    assert holidays({**raw, "exclude_date": {}}).name_of(date(2026, 4, 29)) == "x"


def test_the_decision_names_the_holiday_and_the_item():
    raw = {**NONE, "is_include_public_holiday": True, "public_holiday": {"2026-04-29": "昭和の日"}}
    item = all_day("Holiday")
    decision = decide_place(area(by_schedule(item)), AreaPlace("a1"), r.moment(date(2026, 4, 29), 0), holidays(raw))
    assert (decision.rule, decision.item, decision.holiday) == (DecisionRule.SCHEDULE, item, "昭和の日")


def member(**fields):
    return Member.model_validate({"member_id": "m1", **fields})


def test_the_use_period_is_inclusive_at_both_ends():
    who = member(
        devices_pass={"default_mode": "allow_all"},
        use_date_start="2026-04-27T09:00:00+09:00", use_date_end="2026-04-27T18:00:00+09:00",
    )  # fmt: skip
    for second, rule in [
        (9 * 3600 - 1, DecisionRule.BEFORE_USE), (9 * 3600, DecisionRule.EVERYWHERE), (18 * 3600,
        DecisionRule.EVERYWHERE),
        (18 * 3600 + 1, DecisionRule.AFTER_USE),
    ]:  # fmt: skip
        assert decide(who, AreaPlace("a1"), r.moment(r.FIRST_DAY, second)).rule is rule


def test_rights_that_were_never_read_are_not_guessed():
    decision = decide(member(), AreaPlace("a1"), r.moment(r.FIRST_DAY, 0))
    assert decision.allowed is None
    assert decision.rule is DecisionRule.RIGHTS_NOT_READ


def test_what_is_not_understood_is_said_to_be_unknown():
    at = r.moment(r.FIRST_DAY, 0)
    strange = [
        {"default_mode": "allow_some"}, area({"effect": "allow_once"}), area({"effect": "allow"}), area(None),
        area(by_schedule({"mode": "lunar"})), ["list"], 5,
    ]  # fmt: skip
    for rights in strange:
        assert decide_place(rights, AreaPlace("a1"), at).allowed is None
    assert decide(member(devices_pass=["list"]), AreaPlace("a1"), at).allowed is None
    unreadable = member(use_date_end="soon", devices_pass={"default_mode": "allow_all"})
    assert decide(unreadable, AreaPlace("a1"), at).allowed is None


def test_a_known_rule_that_admits_is_not_clouded_by_an_unknown_one():
    rights = area(by_schedule({"mode": "lunar"}, all_day()))
    assert decide_place(rights, AreaPlace("a1"), r.moment(r.FIRST_DAY, 0)).allowed is True


@given(r.strange_devices, r.strange_keys)
@settings(max_examples=examples(300))
def test_nothing_the_service_may_say_makes_deciding_fail(devices, keys):
    at = r.moment(r.FIRST_DAY, 0)
    assert decide_place(devices, AreaPlace("a1"), at).allowed in (True, False, None)
    assert decide_place(keys, KeyPlace("k1", "01"), at).allowed in (True, False, None)
    assert always() == {"effect": "allow_all"}
