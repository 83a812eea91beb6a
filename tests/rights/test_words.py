"""The texts and charts of rights on pages."""

import pytest
from hypothesis import given, settings

from accessapi.permissions import all_day, always, between, by_schedule, never, phrase_pass, weekly
from accessapi.permissions.passes import WEEKDAYS
from portal.domain.rights import words
from portal.domain.rights.member_rights import canonical, digest
from portal.domain.rights.schedules import week_of
from portal.domain.rights.words import BoxNames, PlaceNames
from portal.rights import comparing
from tests.accessapi import rights as r
from tests.support.effort import examples

PLACES = PlaceNames({"a1": "Lobby", "a2": "Laboratory", "a3": "Roof"}, {"k1": BoxNames("Cars", {"01": "Van"})})
OFFICE = by_schedule(weekly("08:00:00", "19:00:00", *WEEKDAYS[:5]))


def listed(**passes):
    return {"default_mode": "option", "areas_list": [{"area_id": a, "pass": p} for a, p in passes.items()]}


def told(devices=None, keys=None):
    return {"devices_pass": devices, "keys_pass": keys, "privilege": None}


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([weekly("08:00:00", "12:00:00", *WEEKDAYS[:5]), weekly("13:00:00", "19:00:00", *WEEKDAYS[:5])],
         "weekdays 08:00 to 12:00 and 13:00 to 19:00"),
        ([all_day()], "every day including holidays all day"),
        ([all_day(*WEEKDAYS)], "every day but holidays all day"),
        ([weekly("09:00:00", "10:00:30", "Monday", "Tuesday", "Wednesday", "Saturday", "Holiday")],
         "Monday to Wednesday, Saturday and holidays 09:00 to 10:00:30"),
        ([weekly("22:00:00", "06:00:00", "Friday")], "Friday 22:00 to 06:00 (never: it ends before it begins)"),
        ([], "never (no times set yet)"),
    ],
)  # fmt: skip
def test_days_with_the_same_hours_are_named_together(items, said):
    assert phrase_pass(by_schedule(*items)) == said


@given(r.passes(r.items))
@settings(max_examples=examples(300))
def test_what_is_drawn_is_what_admits(value):
    """Check lane by lane against an oracle without drawing code; dated periods are shown as text."""
    week = week_of(value)
    no_holidays = {"exclude_date": {}, "include_date": {}, "public_holiday": {}, "weekly": [],
                   "is_include_public_holiday": False}  # fmt: skip
    weekly_only = value | {"schedule": [i for i in value.get("schedule", []) if i["mode"] == "weekly"]}
    for number, day in enumerate(r.DAYS[:7]):
        spans = [
            (float(bar.x[:-1]) / 100 * 86400, float(bar.width[:-1]) / 100 * 86400) for bar in week.lanes[number].bars
        ]
        for second in (0, 3599, 21600, 43200, 64800, 86399):
            drawn = any(start - 2 <= second <= start + width + 2 for start, width in spans)
            if r.oracle_pass(weekly_only, no_holidays, day, second):
                assert drawn
            elif not any(abs(second - edge) < 200 for start, width in spans for edge in (start, start + width)):
                assert not drawn
    assert len(week.date_ranges) + len(week.not_understood) == len(
        {str(item) for item in value.get("schedule", []) if item["mode"] == "range" and value["effect"] == "allow"}
    )


def test_places_with_the_same_times_are_gathered_in_one_sentence():
    rights = listed(a1=OFFICE, a2=OFFICE, a3=always())
    keys = {"default_mode": "option", "key_devices_list": [
        {"key_device_id": "k1", "default_mode": "option", "units": [{"unit_no": "01", "pass": OFFICE}]}]}  # fmt: skip
    assert words.summary_text({"devices_pass": rights, "keys_pass": keys}, PLACES) == (
        "Lobby, Laboratory, Cars · 01 Van: weekdays 08:00 to 19:00. Roof: at any time."
    )
    assert words.summary_text({"devices_pass": {"default_mode": "deny_all"}}, PLACES) == "No area."
    assert (
        words.pass_text(by_schedule(between(*[r.moment(r.FIRST_DAY, s) for s in (0, 86399)])))
        == "27 April 2026 all day"
    )


def test_changes_name_each_place_once_and_everything_only_where_it_matters():
    grown = words.differences(told({"default_mode": "deny_all"}), told(listed(a1=OFFICE)), PLACES)
    assert [(c.place, c.before, c.after) for c in grown] == [("Lobby", "not listed", "weekdays 08:00 to 19:00")]
    narrowed = words.differences(told({"default_mode": "allow_all"}), told(listed(a1=OFFICE, a2=always())), PLACES)
    assert {c.place for c in narrowed} == {"All areas", "Lobby"}
    assert words.differences(told(listed(a1=OFFICE)), told(listed(a1=OFFICE)), PLACES) == []


@given(r.devices(), r.devices(), r.keys(), r.keys())
@settings(max_examples=examples(200))
def test_equal_digests_mean_equal_rights_and_differences_are_always_said(devices, others, keys, other_keys):
    one, other = told(devices or {}, keys or {}), told(others or {}, other_keys or {})
    assert (digest(one) == digest(other)) is (canonical(one) == canonical(other))
    assert bool(words.differences(one, other, PLACES)) is (canonical(one) != canonical(other))


@given(r.devices(ids=["a1", "a2"]), r.passes(), r.passes())
@settings(max_examples=examples(200))
def test_two_changes_to_different_places_are_put_together_and_to_the_same_place_never(rights, mine, theirs):
    base = rights if rights and rights["default_mode"] == "option" else {"default_mode": "deny_all"}
    entries = [entry for entry in base.get("areas_list", []) if entry["area_id"] == "a1"]

    def with_(**passes):
        more = [{"area_id": name, "pass": value} for name, value in passes.items()]
        return told({"default_mode": "option", "areas_list": [*entries, *more]})

    was = with_()
    merged = comparing.merge_changes(was, with_(a2=mine), with_(a3=theirs))
    assert canonical(merged)["devices_pass"] == canonical(with_(a2=mine, a3=theirs))["devices_pass"]
    if len({str(canonical(with_(a2=each))) for each in (mine, theirs, never())}) == 3:
        with pytest.raises(comparing.MergeConflict):
            comparing.merge_changes(was, with_(a2=mine), with_(a2=theirs))
