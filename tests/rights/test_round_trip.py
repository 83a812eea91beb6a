"""The editor loses nothing: rights that are drawn as a form and posted unchanged are the same rights."""

import json

import pytest
from django.template.loader import render_to_string
from hypothesis import given, settings
from hypothesis import strategies as st

from accessapi.permissions import normalise_devices, normalise_keys
from accessapi.permissions.passes import normal_pass
from portal.domain.rights import editing
from portal.domain.rights.editor_view import modes, sample_rows, sheet_view
from portal.domain.rights.member_rights import MemberRights
from portal.domain.rights.schedules import item_of, parse_date, parse_time, slot_of
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
    assert same(normal_pass({"effect": "allow", "schedule": [item_of(slot_of(item))]}), normal_pass(as_pass))


@pytest.mark.parametrize(
    ("typed", "read"),
    [("8", "08:00:00"), ("800", "08:00:00"), ("0830", "08:30:00"), ("８：３０", "08:30:00"), ("08:00:30", "08:00:30"),
     ("24:00", None), ("25:00", None), ("", None), ("8:3", None), ("noon", None), ("२२", None)],
)  # fmt: skip
def test_times_are_read_as_people_type_them(typed, read):
    found = parse_time(typed)
    assert (f"{found:%H:%M:%S}" if found else None) == read


def test_the_end_of_a_day_is_its_last_second():
    assert f"{parse_time('24:00', closing=True):%H:%M:%S}" == "23:59:59"
    assert parse_date("2026/12/01") == parse_date("２０２６-12-01")
    assert parse_date("2026-W49-2") is None
