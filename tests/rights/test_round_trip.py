"""The editor loses nothing: rights that are drawn as a form and posted unchanged are the same rights."""

import json
from datetime import datetime

import pytest
from django.template.loader import render_to_string
from hypothesis import given, settings
from hypothesis import strategies as st

from accessapi.limits import JST
from accessapi.permissions import normalise_devices, normalise_keys
from accessapi.permissions.passes import WEEKDAYS, between, normal_pass, weekly
from accessapi.permissions.phrases import DAYS
from portal.domain.rights import editing
from portal.domain.rights.editor_view import modes, sample_rows, sheet_view
from portal.domain.rights.member_rights import MemberRights
from portal.domain.rights.schedules import RANGE, WEEKLY, Slot, items_of, slot_of
from portal.domain.rights.sheet import RightsSheet
from portal.domain.rights.words import BoxNames, PlaceNames
from portal.rights import actions
from tenants.scope import tenant_scope
from tests.accessapi import rights as r
from tests.rights.page import posted
from tests.support.effort import examples

PLACES = PlaceNames({"a1": "Lobby", "a2": "ロビー"}, {"k1": BoxNames("Box", {"01": "Van", "02": ""})})
odd_ids = st.sampled_from(["a1", "a.2", "a~1", "", "\n", "エリア", "x" * 60, "a b/c", "%41"])
privileges = st.one_of(
    st.none(),
    r.json_values,
    st.just({"keys_without_2fa": 0, "restricted_keys_enabled": -0.0}),
    st.fixed_dictionaries({}, optional={"keys_without_2fa": st.booleans() | st.none(), "restricted_keys_enabled":
                                        st.booleans() | r.json_values, "since": r.json_values}),
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def inside_a_tenant():
    """Enter a tenant, because sealed values are bound to it; no test here needs its rows."""
    with tenant_scope(7):
        yield


def drawn(sheet):
    laid = sheet_view(sheet, PLACES)
    shown = {"board": laid, **sample_rows(), "act": "act", "may_edit": True}
    shown["device_modes"] = modes("devices", sheet.devices.raw) if sheet.devices else []
    shown["key_modes"] = modes("keys", sheet.keys.raw) if sheet.keys else []
    parts = ["rights/hidden.html", "rights/areas.html", "rights/keys.html", "rights/privileges.html",
             "rights/schedules.html", "rights/samples.html"]  # fmt: skip
    return "".join(render_to_string(part, shown) for part in parts)


def same(one, other):
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@given(
    st.one_of(r.devices(ids=r.AREAS), r.strange_devices, r.wild(r.devices())),
    st.one_of(r.keys(), r.strange_keys, r.wild(r.keys())),
    privileges,
)
@settings(max_examples=examples(400, quick=60))
def test_a_form_sent_as_it_stands_means_the_same_rights(devices, keys, privilege):
    told = {"devices_pass": devices, "keys_pass": keys, "privilege": privilege}
    sheet = editing.parse_sheet(posted(drawn(RightsSheet.of(told))))
    made = sheet.to_body()
    if devices is not None:
        assert same(made["devices_pass"], normalise_devices(devices))
    if keys is not None:
        assert same(made["keys_pass"], normalise_keys(keys))
    assert actions.changed_parts(MemberRights(devices, keys, privilege), made) == {}


@given(st.lists(st.builds(lambda a, p: {"area_id": a, "pass": p}, odd_ids, r.passes()), max_size=4))
@settings(max_examples=examples(100))
def test_ids_of_any_text_name_their_inputs(entries):
    told = {"devices_pass": {"default_mode": "option", "areas_list": entries}}
    made = editing.parse_sheet(posted(drawn(RightsSheet.of(told)))).to_body()
    assert same(made["devices_pass"], normalise_devices(told["devices_pass"]))


@given(st.one_of(r.items, r.strange_items, r.json_values))
@settings(max_examples=examples(400))
def test_a_schedule_item_becomes_a_line_and_the_same_item_again(item):
    as_pass = {"effect": "allow", "schedule": [item]}
    assert same(normal_pass({"effect": "allow", "schedule": items_of(slot_of(item))}), normal_pass(as_pass))


def typed(start, end, *days, first="", last=""):
    return Slot(RANGE if first else WEEKLY, days, start, end, first, last)


@pytest.mark.parametrize(
    ("start", "read"),
    [("8", "08:00:00"), ("800", "08:00:00"), ("0830", "08:30:00"), ("８：３０", "08:30:00"), ("08:00:30", "08:00:30"),
     ("午前8時半", "08:30:00"), ("8 AM", "08:00:00"),
     ("24:00", None), ("25:00", None), ("", None), ("8:3", None), ("noon", None), ("२२", None)],
)  # fmt: skip
def test_times_are_read_as_people_type_them(start, read):
    found = items_of(typed(start, "24:00", "Monday"))
    assert found == ([weekly(read, "23:59:59", "Monday")] if read else [])


def test_the_end_of_a_day_is_its_last_second():
    for end in ("24:00", "2400", "23:59:59", "午後11:59:59"):
        assert items_of(typed("9:00", end, "Monday")) == [weekly("09:00:00", "23:59:59", "Monday")]


def test_dates_are_read_as_people_type_them():
    same_day = between(datetime(2026, 12, 1, 9, tzinfo=JST), datetime(2026, 12, 1, 18, tzinfo=JST))
    for day in ("2026/12/01", "２０２６-12-01", "R8.12.1", "2026年12月1日"):
        assert items_of(typed("9:00", "18:00", first=day)) == [same_day]
    for day in ("2026-W49-2", "R8.12.32", "1/2/2027"):
        wrong = typed("9:00", "18:00", first=day)
        assert items_of(wrong) == []
        assert f"“{day}”" in wrong.problems[0]


@pytest.mark.parametrize(
    ("days", "mornings"),
    [
        (("Friday",), ("Saturday",)),
        (("Saturday", "Sunday"), ("Monday", "Sunday")),
        (WEEKDAYS, WEEKDAYS),
        (DAYS, ("*",)),
    ],
)
def test_an_end_before_the_start_is_on_the_next_day(days, mornings):
    evening = weekly("22:00:00", "23:59:59", *(("*",) if days == DAYS else days))
    assert items_of(typed("22:00", "6:00", *days)) == [evening, weekly("00:00:00", "06:00:00", *mornings)]
    assert items_of(typed("22:00", "0:00", *days)) == [evening]


def test_the_night_after_a_holiday_is_refused_because_its_morning_is_unknown():
    night = typed("22:00", "6:00", "Sunday", "Holiday")
    assert items_of(night) == []
    assert night.problems == ["For the night after a holiday, use two lines: until 24:00, and from 00:00."]


def test_a_night_of_one_date_ends_on_the_next():
    night = between(datetime(2026, 12, 31, 22, tzinfo=JST), datetime(2027, 1, 1, 6, tzinfo=JST))
    assert items_of(typed("22:00", "6:00", first="2026-12-31")) == [night]
    refused = typed("22:00", "6:00", first="2026-12-31", last="2026-12-31")
    assert items_of(refused) == []
    assert refused.problems == ["It ends before it begins."]
    assert items_of(typed("22:00", "6:00", first="9999-12-31")) == []


def test_an_item_of_the_service_that_never_applies_is_kept_as_it_is():
    never = weekly("22:00:00", "06:00:00", "Friday")
    assert items_of(slot_of(never)) == [never]
