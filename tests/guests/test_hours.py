"""Typed end times: never a wrong day, never a crash, and a shown time is read back as it is."""

import json
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accessapi.limits import JST
from portal.domain.visits.models import Preset
from portal.guests import hours, issuing
from portal.guests.issuing import NamedHours, _duplicate_names
from tests.support.effort import examples

CASES = json.loads((Path(__file__).parents[1] / "support/dates.json").read_text())
NOON = datetime(2026, 11, 20, 12, 0, 30, tzinfo=JST)
starts = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("typed", "end"),
    [
        ("18:00", "2026-11-20 18:00:00"),
        ("1830", "2026-11-20 18:30:00"),
        ("１８：３０", "2026-11-20 18:30:00"),
        ("18", "2026-11-20 18:00:00"),
        ("24:00", "2026-11-20 23:59:59"),
        ("18時", "2026-11-20 18:00:00"),
        ("18時半", "2026-11-20 18:30:00"),
        ("18時15分", "2026-11-20 18:15:00"),
        ("+90", "2026-11-20 13:30:00"),
        ("90m", "2026-11-20 13:30:00"),
        ("2h", "2026-11-20 14:00:00"),
        ("1h30", "2026-11-20 13:30:00"),
        ("2時間", "2026-11-20 14:00:00"),
        ("1時間半", "2026-11-20 13:30:00"),
        ("翌9時", "2026-11-21 09:00:00"),
        ("明日の午前9時", "2026-11-21 09:00:00"),
        ("明日24:00", "2026-11-21 23:59:59"),
        ("2026-11-21 24:00", "2026-11-21 23:59:59"),
        ("30分", "2026-11-20 12:30:00"),
        ("明日 9:00", "2026-11-21 09:00:00"),
        ("tomorrow 0900", "2026-11-21 09:00:00"),
        ("11-22 9:00", "2026-11-22 09:00:00"),
        ("1/5 10:00", "2027-01-05 10:00:00"),
        ("2026-12-01 17:00", "2026-12-01 17:00:00"),
        ("2026-12-01T17:00", "2026-12-01 17:00:00"),
    ],
)
def test_an_end_is_read_as_people_write_it(typed, end):
    assert f"{hours.parse_end(typed, NOON):%Y-%m-%d %H:%M:%S}" == end


@pytest.mark.parametrize(
    "typed", ["", "x", "25:00", "12:60", "+0", "0h", "2026-02-30 10:00", "-5", "99999999h", "13-1 9:00", "90", "1260"]
)
def test_what_is_no_time_is_refused(typed):
    with pytest.raises(hours.NotATime):
        hours.parse_end(typed, NOON)


@pytest.mark.parametrize("typed", ["0900", "9時", "午前9時", "12:00"])
def test_a_time_of_day_that_is_over_is_tomorrows_once_the_person_has_seen_that(typed):
    end = hours.parse_end(typed, NOON)
    assert NOON < end <= NOON + timedelta(days=1)
    for seen in ("", "09:00", "2026-11-22 09:00"):
        with pytest.raises(hours.EndsNextDay, match=f"next day: {end:%Y-%m-%d %H:%M}"):
            hours.parse_end(typed, NOON, seen=seen)
    shown = hours.describe_end(typed, NOON)
    assert hours.parse_end(typed, NOON, seen=shown.end) == end


@pytest.mark.parametrize("typed", ["tomorrow 9:00", "11/21 9:00", "18:00", "+1440"])
def test_an_end_that_names_its_day_or_is_today_needs_no_second_look(typed):
    assert hours.parse_end(typed, NOON, seen="") == hours.parse_end(typed, NOON)


@pytest.mark.parametrize(("typed", "clock"), CASES["clocks"].items())
def test_the_desk_reads_the_times_of_day_that_a_list_reads(typed, clock):
    morning = NOON.replace(hour=0, minute=0)
    assert f"{hours.parse_end(typed, morning):%d %H:%M:%S}" == f"20 {clock}:00".replace("24:00:00", "23:59:59")


@pytest.mark.parametrize(("typed", "moment"), CASES["moments"].items())
def test_the_desk_reads_the_moments_that_a_list_reads(typed, moment):
    assert f"{hours.parse_end(typed, NOON):%Y-%m-%d %H:%M:%S}" == moment


@pytest.mark.parametrize(("typed", "day"), CASES["days"].items())
def test_the_desk_takes_a_day_alone_for_its_end(typed, day):
    assert f"{hours.parse_end(typed, NOON):%Y-%m-%d %H:%M:%S}" == f"{day} 23:59:59"


@pytest.mark.parametrize("typed", CASES["unread"])
def test_the_desk_refuses_what_a_list_refuses_and_quotes_it(typed):
    with pytest.raises(hours.NotATime) as refused:
        hours.parse_end(typed, NOON)
    assert f"“{typed}”" in refused.value.message
    assert hours.describe_end(typed, NOON) is None


@settings(max_examples=examples(2000))
@given(st.text(max_size=30), starts)
def test_whatever_is_typed_gives_an_end_or_a_reason(typed, start):
    try:
        end = hours.parse_end(typed, start)
    except hours.NotATime:
        return
    assert end.tzinfo == JST
    assert end.microsecond == 0


@settings(max_examples=examples(1000))
@given(starts, st.integers(1, 60 * 24 * 30))
def test_what_the_form_shows_is_read_back_as_it_is(start, minutes):
    end = hours.end_of(Preset(name="x", minutes=minutes), start)
    shown = hours.format_end(end, start)
    if end > start.replace(microsecond=0):
        assert hours.parse_end(shown, start) == end


@settings(max_examples=examples(1000))
@given(starts, st.times().map(lambda at: time(at.hour, at.minute)))
def test_a_preset_until_a_time_of_day_ends_within_a_day(start, until):
    end = hours.end_of(Preset(name="x", until=until), start)
    assert timedelta(0) < end - start.replace(microsecond=0) <= timedelta(days=1)
    assert (end.hour, end.minute) == (until.hour, until.minute)


@settings(max_examples=examples(500))
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 6), st.integers(1, 4)), max_size=5))
def test_names_that_stand_twice_are_those_whose_hours_meet(wanted):
    orders = [
        NamedHours(name, NOON + timedelta(hours=at), NOON + timedelta(hours=at + long)) for name, at, long in wanted
    ]
    busy = {}
    for name, at, long in wanted:
        for hour in range(at, at + long):
            busy.setdefault((name, hour), []).append(1)
    assert _duplicate_names(orders) == sorted({name for (name, _hour), found in busy.items() if len(found) > 1})


def test_codes_are_short_dense_and_never_the_same():
    codes = {issuing.new_code() for _ in range(1000)}
    assert len(codes) == 1000
    assert all(
        len(code) == issuing.CODE_LENGTH and set(code) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for code in codes
    )
    assert issuing.CODE_LENGTH * 5 >= 128
