"""Dates and times as people and spreadsheets write them. Desk, guest list and import read the same ones."""

import json
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accessapi.limits import JST
from portal.base.files import date_parsing as dates
from tests.support.effort import examples

CASES = json.loads((Path(__file__).parents[1] / "support/dates.json").read_text())
TODAY = date.fromisoformat(CASES["today"])


def written(moment):
    return f"{moment:%Y-%m-%d %H:%M:%S}" if moment else None


@pytest.mark.parametrize(("typed", "day"), CASES["days"].items())
def test_a_day_is_read_as_people_write_it(typed, day):
    assert dates.parse_day(typed, today=TODAY) == date.fromisoformat(day)
    assert written(dates.parse_typed_moment(typed, today=TODAY)) == f"{day} 00:00:00"
    assert written(dates.parse_typed_moment(typed, today=TODAY, end=True)) == f"{day} 23:59:59"


@pytest.mark.parametrize(("typed", "clock"), CASES["clocks"].items())
def test_a_time_of_day_is_read_as_people_write_it(typed, clock):
    hour, minute = clock.split(":")
    assert dates.parse_clock(typed) == timedelta(hours=int(hour), minutes=int(minute))
    assert dates.parse_typed_moment(typed, today=TODAY) is None


@pytest.mark.parametrize(("typed", "moment"), CASES["moments"].items())
def test_a_day_with_a_time_is_read_as_people_write_it(typed, moment):
    assert written(dates.parse_typed_moment(typed, today=TODAY)) == moment
    assert dates.parse_clock(typed) is None


@pytest.mark.parametrize("day", ["11/30", "2026年11月30日", "R8.11.30", "30 Nov 2026", "11/30/2026", "20261130"])
@pytest.mark.parametrize("clock", [each for each in CASES["clocks"] if ":" in each or "時" in each])
def test_every_day_may_have_every_time_after_it(day, clock):
    expected = dates.at_clock(date(2026, 11, 30), dates.parse_clock(clock))
    assert dates.parse_typed_moment(f"{day} {clock}", today=TODAY) == expected


@pytest.mark.parametrize("typed", CASES["unread"])
def test_what_is_no_date_or_time_or_could_be_two_is_not_read(typed):
    assert dates.parse_day(typed, today=TODAY) is None
    assert dates.parse_typed_moment(typed, today=TODAY) is None
    assert dates.parse_clock(typed) is None


@pytest.mark.parametrize(("typed", "by_order"), CASES["orders"].items())
def test_a_day_that_could_be_two_is_read_in_the_chosen_order(typed, by_order):
    assert dates.is_order_dependent(typed)
    for order in ("ymd", "dmy", "mdy"):
        found = dates.parse_day(typed, order=order, today=TODAY)
        assert (found and found.isoformat()) == by_order.get(order)
    assert "can mean two dates" in dates.explain_unread(typed, "day")


@pytest.mark.parametrize("typed", [*CASES["days"], *CASES["moments"]])
def test_a_day_is_asked_about_only_if_its_order_matters(typed):
    assert dates.is_order_dependent(typed) == (typed == "1/5")


@pytest.mark.parametrize(
    ("column", "order"),
    [
        (["3/4/2027", "13/4/2027"], "dmy"),
        (["3/4/2027 9:00", "4/13/2027 9:00"], "mdy"),
        (["12/3", "11/26"], "ymd"),
        (["30/11", "3/12"], "dmy"),
        (["11/30/26", "3/4/26"], "mdy"),
        (["x", "31/31/2027", "13/4/2027", "3/4/2027"], "dmy"),
        (["3/4/2027"], None),
        (["26/11/30"], None),
        (["2026/11/30", "R8.11.30"], None),
        (["13/4/2027", "4/13/2027", "3/4/2027"], None),
        ([], None),
    ],
)
def test_the_order_of_a_column_is_that_in_which_all_its_days_exist(column, order):
    assert dates.guess_date_order(column) == order


@pytest.mark.parametrize(
    ("start", "clock", "end"),
    [
        ("2026-11-20 22:00", "6:00", "2026-11-21 06:00:00"),
        ("2026-11-20 09:00", "18:00", "2026-11-20 18:00:00"),
        ("2026-11-20 09:00", "9:00", "2026-11-21 09:00:00"),
        ("2026-12-31 22:00", "0:00", "2027-01-01 00:00:00"),
        ("2026-11-20 22:00", "24:00", "2026-11-20 23:59:59"),
    ],
)
def test_an_end_that_is_not_after_the_start_is_on_the_next_day(start, clock, end):
    began = datetime.fromisoformat(start).replace(tzinfo=JST)
    assert written(dates.end_of_clock(began, dates.parse_clock(clock))) == end


def test_a_time_of_24_hours_ends_a_day_and_begins_the_next():
    assert written(dates.parse_typed_moment("2026/11/30 24:00")) == "2026-12-01 00:00:00"
    assert written(dates.parse_typed_moment("2026/11/30 24:00", end=True)) == "2026-11-30 23:59:59"
    assert dates.parse_typed_moment("9999/12/31 24:00") is None


def test_a_time_zone_that_leads_out_of_the_calendar_or_does_not_exist_gives_no_moment():
    for typed in ("9999-12-31T23:00:00-05:00", "0001-01-01T00:00:00+14:00", "2026-11-30T09:00:00+25:00"):
        assert dates.parse_typed_moment(typed) is None


def test_a_day_without_a_year_is_read_only_where_the_present_day_is_known():
    assert dates.parse_day("11/30") is None
    assert dates.parse_day("11/20", today=TODAY) == TODAY


def test_a_refusal_quotes_the_value_and_names_forms_that_are_read():
    assert dates.explain_unread(" R8.11.32 ", "day").startswith(
        "“R8.11.32” is not a date. Enter a date like 2026/11/30"
    )
    assert dates.explain_unread("25:00", "clock").startswith("“25:00” is not a time. Enter a time like 18:00")
    assert "…” is not a date and time" in dates.explain_unread("1" * 500, "moment")


@settings(max_examples=examples(1000))
@given(
    st.text(st.sampled_from("0123456789-/.: T+Z年月日時分午後前令和RHnovamp()土"), max_size=20) | st.text(max_size=20)
)
def test_any_text_is_a_moment_or_none(typed):
    for order in (None, "ymd", "dmy", "mdy"):
        found = dates.parse_typed_moment(typed, order=order, today=TODAY, end=True)
        assert found is None or (found.tzinfo == JST and found.microsecond == 0)
    assert dates.explain_unread(typed, "moment")


@settings(max_examples=examples(500))
@given(st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31)).map(lambda at: at.replace(microsecond=0)))  # noqa: DTZ001
def test_what_the_portal_and_excel_write_is_read_back_as_it_is(at):
    serial = (at - datetime(1899, 12, 30)) / timedelta(days=1)  # noqa: DTZ001
    forms = [f"{at:%Y-%m-%d %H:%M:%S}", f"{at:%Y/%m/%d %H:%M:%S}", at.isoformat(), f"{serial:.6f}",
             f"{at.year}年{at.month}月{at.day}日 {at.hour}時{at.minute}分{at.second}秒"]  # fmt: skip
    for form in forms:
        assert dates.parse_typed_moment(form) == at.replace(tzinfo=JST), form
