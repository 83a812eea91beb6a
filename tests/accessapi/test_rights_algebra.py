"""Rights keep their meaning through normalising, granting, withdrawing and comparing."""

import copy

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from accessapi.permissions import (
    AreaPlace,
    KeyPlace,
    NeedsInventory,
    UnknownRights,
    always,
    by_schedule,
    compare_devices,
    compare_keys,
    decide_place,
    explain_decision,
    grant_area,
    grant_key,
    grant_key_box,
    never,
    normalise_devices,
    normalise_keys,
    phrase_pass,
    weekly,
    withdraw_area,
    withdraw_key,
    withdraw_key_box,
)
from accessapi.permissions.passes import WEEKDAYS
from accessapi.resources.rights import DevicesPass, KeysPass
from tests.accessapi import rights as r
from tests.support.effort import examples

EVERYWHERE = {"default_mode": "allow_all"}


@given(st.one_of(r.devices(), r.strange_devices))
@settings(max_examples=examples(400))
def test_normalising_areas_is_idempotent_and_changes_nothing_it_was_given(rights):
    before = copy.deepcopy(rights)
    once = normalise_devices(rights)
    assert normalise_devices(once) == once
    assert rights == before


@given(st.one_of(r.keys(), r.strange_keys))
@settings(max_examples=examples(400))
def test_normalising_keys_is_idempotent_and_changes_nothing_it_was_given(rights):
    before = copy.deepcopy(rights)
    once = normalise_keys(rights)
    assert normalise_keys(once) == once
    assert rights == before


@given(r.devices(), st.randoms())
def test_the_order_of_entries_does_not_matter(rights, random):
    assume(rights and "areas_list" in rights)
    shuffled = copy.deepcopy(rights)
    random.shuffle(shuffled["areas_list"])
    assert normalise_devices(shuffled) == normalise_devices(rights)


@given(r.devices(ids=r.AREAS[:2]), r.passes())
def test_granting_an_area_and_withdrawing_it_returns_the_former_rights(rights, pass_):
    assume(normalise_devices(rights) != EVERYWHERE)
    granted = grant_area(rights, "a3", pass_)
    assert withdraw_area(granted, "a3") == normalise_devices(rights)


@given(r.devices(), r.passes(), st.sampled_from(r.AREAS))
def test_granting_gives_exactly_the_pass_and_leaves_every_other_area_alone(rights, pass_, area_id):
    granted = grant_area(rights, area_id, pass_, all_area_ids=r.AREAS)
    alone = {"default_mode": "option", "areas_list": [{"area_id": area_id, "pass": pass_}]}
    for day in r.DAYS[:3]:
        for second in r.interesting_seconds(rights, pass_):
            at = r.moment(day, second)
            for other in r.AREAS:
                source = alone if other == area_id else rights
                wanted = decide_place(source, AreaPlace(other), at).allowed
                assert decide_place(granted, AreaPlace(other), at).allowed is wanted


@given(r.devices(), st.sampled_from(r.AREAS))
def test_a_withdrawn_area_admits_at_no_time_and_the_others_stay(rights, area_id):
    left = withdraw_area(rights, area_id, all_area_ids=r.AREAS)
    for second in r.interesting_seconds(rights):
        for other in r.AREAS:
            at = r.moment(r.FIRST_DAY, second)
            wanted = other != area_id and decide_place(rights, AreaPlace(other), at).allowed
            assert decide_place(left, AreaPlace(other), at).allowed is wanted


@given(r.keys(), r.passes(), st.sampled_from([("k1", "01"), ("k1", "02"), ("k2", "01")]))
def test_granting_a_key_gives_exactly_the_pass_and_leaves_every_other_key_alone(rights, pass_, key):
    granted = grant_key(rights, *key, pass_, inventory=r.BOXES)
    box = {"key_device_id": key[0], "default_mode": "option", "units": [{"unit_no": key[1], "pass": pass_}]}
    alone = {"default_mode": "option", "key_devices_list": [box]}
    for second in r.interesting_seconds(rights, pass_):
        at = r.moment(r.FIRST_DAY, second)
        for name, units in r.BOXES.items():
            for unit in units:
                source = alone if (name, unit) == key else rights
                wanted = decide_place(source, KeyPlace(name, unit), at).allowed
                assert decide_place(granted, KeyPlace(name, unit), at).allowed is wanted


@given(r.keys(), r.passes(), st.sampled_from([("k1", "01"), ("k2", "01")]))
def test_granting_a_key_and_withdrawing_it_returns_the_former_rights(rights, pass_, key):
    former = withdraw_key(rights, *key, inventory=r.BOXES)
    assert withdraw_key(grant_key(former, *key, pass_), *key) == former


@given(r.keys(), st.sampled_from(["k1", "k2"]))
def test_granting_a_key_box_and_withdrawing_it_returns_the_former_rights(rights, box):
    former = withdraw_key_box(rights, box, inventory=r.BOXES)
    granted = grant_key_box(former, box)
    assert decide_place(granted, KeyPlace(box, "77"), r.moment(r.FIRST_DAY, 0)).allowed
    assert withdraw_key_box(granted, box) == former


def test_taking_one_area_from_everything_needs_to_know_what_else_exists():
    with pytest.raises(NeedsInventory):
        withdraw_area(EVERYWHERE, "a1")
    left = withdraw_area(EVERYWHERE, "a1", all_area_ids=["a1", "a2"])
    assert left == {"default_mode": "option", "areas_list": [{"area_id": "a2", "pass": always()}]}
    assert grant_area(EVERYWHERE, "a1", always()) == EVERYWHERE
    with pytest.raises(NeedsInventory):
        withdraw_key({"default_mode": "allow_all"}, "k1", "01")


def test_rights_in_an_unknown_mode_are_not_touched():
    strange = {"default_mode": "allow_some", "hint": 1}
    assert normalise_devices(strange) == strange
    with pytest.raises(UnknownRights):
        grant_area(strange, "a1", always())
    with pytest.raises(UnknownRights):
        withdraw_key_box(strange, "k1", inventory=r.BOXES)


def test_what_is_not_understood_in_other_entries_survives_a_change():
    strange = {"area_id": "a2", "pass": {"effect": "allow_once", "until": "noon"}}
    rights = {"default_mode": "option", "areas_list": [strange], "since": "2027"}
    granted = grant_area(rights, "a1", always())
    assert strange in granted["areas_list"]
    assert granted["since"] == "2027"
    assert withdraw_area(granted, "a1") == rights


@pytest.mark.parametrize("strange", [{"zone_id": "z1", "pass": always()}, {"area_id": None, "pass": always()}, "a9", 7])
def test_an_entry_that_names_no_area_survives_a_change_of_others(strange):
    rights = {"default_mode": "option", "areas_list": [{"area_id": "a1", "pass": always()}, strange]}
    assert strange in withdraw_area(rights, "a1")["areas_list"]
    assert strange in grant_area(rights, "a1", never())["areas_list"]
    assert withdraw_area(grant_area(rights, "a2", always()), "a2") == normalise_devices(rights)


@pytest.mark.parametrize("strange", [{"shelf": "s1"}, {"key_device_id": "k2", "default_mode": "sometimes"}, None])
def test_an_entry_that_is_no_key_box_survives_a_change_of_others(strange):
    rights = {
        "default_mode": "option",
        "key_devices_list": [{"key_device_id": "k1", "default_mode": "allow_all"}, strange],
    }
    assert withdraw_key_box(rights, "k1")["key_devices_list"] == [strange]
    assert strange in withdraw_key(rights, "k1", "01", inventory=r.BOXES)["key_devices_list"]


@given(r.devices(), r.passes(), st.sampled_from(r.AREAS))
def test_what_the_algebra_makes_of_valid_rights_may_be_sent(rights, pass_, area_id):
    assume(not any("week': []" in str(value) for value in (rights, pass_)))
    DevicesPass.model_validate(grant_area(rights, area_id, pass_, all_area_ids=r.AREAS))


@given(r.keys(), st.sampled_from(["k1", "k2"]))
def test_what_the_algebra_makes_of_valid_key_rights_may_be_sent(rights, box):
    assume("week': []" not in str(rights))
    KeysPass.model_validate(grant_key_box(rights, box))


@given(r.devices(), r.devices())
def test_rights_compare_as_equal_exactly_when_their_canonical_forms_are(before, after):
    same = normalise_devices(before) == normalise_devices(after)
    assert (compare_devices(before, after) == []) is same


def test_a_comparison_names_what_changed():
    before = {"default_mode": "option", "areas_list": [{"area_id": "a1", "pass": always()}]}
    [change] = compare_devices(before, grant_area(before, "a2", always()))
    assert (change.target, change.before, change.after) == ("a2", never(), always())
    changes = compare_keys(None, grant_key(None, "k1", "01", always()))
    assert [(c.target, c.unit_no, c.after) for c in changes] == [("k1", "01", always())]


@given(r.strange_devices, r.strange_keys)
@settings(max_examples=examples(300))
def test_anything_can_be_described_and_compared(devices, keys):
    entries = devices.get("areas_list") if isinstance(devices, dict) else None
    assert all(map(phrase_pass, [devices, keys, *(entries if isinstance(entries, list) else [])]))
    assert all(phrase_pass(entry.get("pass")) for entry in entries or () if isinstance(entry, dict))
    compare_devices(devices, None)
    compare_keys(keys, None)
    for decision in (decide_place(devices, AreaPlace("a1"), r.moment(r.FIRST_DAY, 0)),):
        assert explain_decision(decision).endswith((".", ")."))


def test_a_reason_names_the_hours_it_follows_from():
    rights = grant_area(None, "a1", by_schedule(weekly("09:00:00", "18:00:00", *WEEKDAYS[:5])))
    decision = decide_place(rights, AreaPlace("a1"), r.moment(r.FIRST_DAY, 12 * 3600))
    assert explain_decision(decision).startswith("Allowed by the schedule: weekdays 09:00 to 18:00.")


def test_sentences_go_through_the_injected_translation():
    seen = []

    def translate(text):
        seen.append(text)
        return {"never": "常に不可"}.get(text, text)

    assert phrase_pass(never(), translate) == "常に不可"
    assert seen == ["never"]
