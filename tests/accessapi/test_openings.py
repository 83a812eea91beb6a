"""When a place is open, compared with the oracle that walks the days second by second."""

import itertools
from datetime import datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from accessapi.permissions import AreaPlace, Holidays, KeyPlace, always, between, by_schedule, weekly
from accessapi.permissions.opening_hours import HORIZON_DAYS, OpeningHours
from accessapi.resources.tenants import HolidaySettings
from tests.accessapi import rights as the
from tests.support.effort import examples

JST = timezone(timedelta(hours=9))


def option(area_id, pass_):
    return {"default_mode": "option", "areas_list": [{"area_id": area_id, "pass": pass_}]}


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=JST)


def holidays_of(chosen):
    return Holidays.from_settings(HolidaySettings.model_validate(chosen))


@given(rights=the.devices(), chosen=the.holiday_settings(), day=the.days, data=st.data())
@settings(max_examples=examples(400))
def test_a_day_of_an_area_is_what_the_oracle_says_of_every_interesting_second(rights, chosen, day, data):
    stretches = OpeningHours(rights, AreaPlace("a1"), holidays_of(chosen)).spans_of_day(day)
    assert stretches[0].start == the.moment(day, 0)
    assert stretches[-1].end == the.moment(day, 86400)
    assert all(one.end == other.start for one, other in itertools.pairwise(stretches))
    assert all(one.allowed is not other.allowed for one, other in itertools.pairwise(stretches))
    drawn = data.draw(st.lists(st.integers(0, 86399), max_size=20))
    for second in {*the.interesting_seconds(rights), *drawn}:
        now = the.moment(day, second)
        said = next(each.allowed for each in stretches if each.start <= now < each.end)
        assert said is the.oracle_area(rights, "a1", chosen, day, second)


@given(rights=the.keys(), chosen=the.holiday_settings(), day=the.days)
@settings(max_examples=examples(150))
def test_a_day_of_a_key_is_what_the_oracle_says(rights, chosen, day):
    stretches = OpeningHours(rights, KeyPlace("k1", "01"), holidays_of(chosen)).spans_of_day(day)
    for second in the.interesting_seconds(rights):
        now = the.moment(day, second)
        said = next(each.allowed for each in stretches if each.start <= now < each.end)
        assert said is the.oracle_key(rights, "k1", "01", chosen, day, second)


edges = st.one_of(st.none(), st.builds(the.moment, the.days, st.integers(0, 86399)))


@given(rights=the.devices(), chosen=the.holiday_settings(), start=edges, end=edges, day=the.days, data=st.data())
@settings(max_examples=examples(120))
def test_the_next_opening_and_the_end_of_one_agree_with_walking_second_by_second(rights, chosen, start, end, day, data):
    openings = OpeningHours(rights, AreaPlace("a1"), holidays_of(chosen), (start, end))
    named = the.interesting_seconds(rights, [{"time": f"{edge:%H:%M:%S}+09:00"} for edge in (start, end) if edge])
    began = the.moment(day, data.draw(st.sampled_from(named)))

    def open_at(moment):
        inside = (start is None or moment >= start) and (end is None or moment <= end)
        second = moment.hour * 3600 + moment.minute * 60 + moment.second
        return inside and the.oracle_area(rights, "a1", chosen, moment.date(), second)

    midnight = began.replace(hour=0, minute=0, second=0)
    walk = [midnight + timedelta(days=n, seconds=second) for n in range(9) for second in named]
    walk = [began, *(moment for moment in walk if moment > began)]
    opens, changes = openings.next_opening(began), openings.next_change(began)
    first_open = next((moment for moment in walk if open_at(moment)), None)
    if first_open is not None:
        assert opens is not None
        assert opens.start == first_open
    elif opens is not None:  # later than the end of the walk
        assert opens.start > walk[-1]
        assert open_at(opens.start)
    first_other = next((moment for moment in walk if open_at(moment) != open_at(began)), None)
    if first_other is not None:
        assert changes == first_other
    elif changes is not None:
        assert changes > walk[-1]


@given(rights=the.strange_devices, day=the.days, second=st.integers(0, 86399))
@settings(max_examples=examples(200))
def test_rights_of_any_shape_give_stretches_and_never_a_fault(rights, day, second):
    openings = OpeningHours(rights, AreaPlace("a1"))
    moment = the.moment(day, second)
    assert (
        next(e.allowed for e in openings.spans_of_day(day) if e.start <= moment < e.end)
        is openings.decision_at(moment).allowed
    )
    openings.next_change(moment)
    openings.next_unknown(moment)


def test_office_hours_open_next_on_monday_and_end_a_second_after_the_last():
    hours = OpeningHours(
        option("a1", by_schedule(weekly("09:00:00", "18:00:00", "Monday", "Tuesday"))), AreaPlace("a1")
    )
    assert hours.next_opening(at("2026-11-20 12:00:00")).start == at("2026-11-23 09:00:00")
    assert hours.next_change(at("2026-11-23 12:00:00")) == at("2026-11-23 18:00:01")


def test_a_stretch_over_midnight_has_no_seam_in_it():
    night = OpeningHours(
        option("a1", by_schedule(between(at("2026-11-20 22:00:00"), at("2026-11-22 06:59:59")))), AreaPlace("a1")
    )
    assert night.next_change(at("2026-11-20 23:00:00")) == at("2026-11-22 07:00:00")


def test_a_date_beyond_the_horizon_is_found():
    far = OpeningHours(
        option("a1", by_schedule(between(at("2031-01-01 09:00:00"), at("2031-01-01 10:00:00")))), AreaPlace("a1")
    )
    assert far.next_opening(at("2026-11-20 12:00:00")).start == at("2031-01-01 09:00:00")
    assert far.next_change(at("2026-11-20 12:00:00")) == at("2031-01-01 09:00:00")


def test_what_never_ends_has_no_end_in_sight():
    ever = OpeningHours({"default_mode": "allow_all"}, AreaPlace("a1"))
    assert ever.next_change(at("2026-11-20 12:00:00")) is None
    assert OpeningHours({"default_mode": "deny_all"}, AreaPlace("a1")).next_opening(at("2026-11-20 12:00:00")) is None
    ended = OpeningHours({"default_mode": "allow_all"}, AreaPlace("a1"), use_period=(None, at("2026-12-31 23:59:59")))
    assert ended.next_change(at("2026-11-20 12:00:00")) == at("2027-01-01 00:00:00")


def test_the_last_days_of_the_calendar_do_not_break_it():
    ever = OpeningHours(option("a1", always()), AreaPlace("a1"))
    assert ever.next_change(at("9999-12-30 12:00:00")) is None
    assert HORIZON_DAYS >= 366
