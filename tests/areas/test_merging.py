"""Granting and withdrawing one area leaves all other rights of a member as they were. With generated rights."""

import copy
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from accessapi.permissions import (
    AreaPlace,
    always,
    by_schedule,
    compare_devices,
    decide_place,
    normalise_devices,
    weekly,
)
from portal.areas.merging import AccessEdit, EditKind, EditResult, decide, gives_access, rights_for_area, undo
from tests.accessapi import rights as the
from tests.support.effort import examples

ALL = the.AREAS
OFFICE = by_schedule(weekly("08:00:00", "19:00:00", "Monday", "Friday"))
wanted = st.one_of(st.just({"effect": "allow_all"}), st.just(OFFICE), the.passes())
wishes = st.builds(
    AccessEdit,
    st.sampled_from([EditKind.GRANT, EditKind.WITHDRAW]),
    st.sampled_from(["a1", "a9"]),
    wanted,
    replace_hours=st.booleans(),
    include_everywhere=st.booleans(),
)


def others(rights, area_id):
    """Return the rights without one area, entry by entry, in canonical form."""
    normal = normalise_devices(rights)
    entries = normal.get("areas_list", [])
    kept = [entry for entry in entries if not (isinstance(entry, dict) and entry.get("area_id") == area_id)]
    return {name: value for name, value in normal.items() if name not in ("areas_list", "default_mode")}, kept


@given(rights=the.strange_devices, wish=wishes)
@settings(max_examples=examples(800))
def test_other_areas_and_unknown_values_are_untouched_and_rights_themselves_are_not_changed(rights, wish):
    given_ = copy.deepcopy(rights)
    verdict = decide(rights, wish, ALL)
    assert rights == given_
    if not verdict.is_sent:
        return
    if verdict.result == EditResult.CHANGES:
        assert others(verdict.after, wish.area_id) == others(rights, wish.area_id)
    else:
        assert normalise_devices(rights)["default_mode"] == "allow_all"
        listed = {entry["area_id"]: entry["pass"] for entry in verdict.after["areas_list"]}
        assert {area: listed.get(area) for area in ALL if area != wish.area_id} == {
            area: always() for area in ALL if area != wish.area_id
        }
    assert verdict.after != normalise_devices(rights)


@given(rights=the.devices(), wish=wishes, chosen=the.holiday_settings(), day=the.days, data=st.data())
@settings(max_examples=examples(400))
def test_every_decision_about_another_area_stays_and_the_wish_holds_here(rights, wish, chosen, day, data):
    verdict = decide(rights, wish, ALL)
    if not verdict.is_sent:
        return
    second = data.draw(st.sampled_from(the.interesting_seconds(rights, wish.pass_)))
    for area in ALL:
        before = the.oracle_area(rights, area, chosen, day, second)
        after = the.oracle_area(verdict.after, area, chosen, day, second)
        if area != wish.area_id:
            assert after == before
        elif wish.kind == EditKind.WITHDRAW:
            assert not after
        else:
            assert after == the.oracle_pass(wish.pass_, chosen, day, second)
            if not wish.replace_hours and not wish.include_everywhere:
                assert after or not before, "giving took something away"


@given(rights=the.strange_devices, wish=wishes)
@settings(max_examples=examples(600))
def test_what_was_given_and_is_taken_back_leaves_what_was_there_before(rights, wish):
    verdict = decide(rights, wish, ALL)
    if not verdict.is_sent:
        return
    back = undo(verdict.after, rights, verdict.after, wish.area_id)
    assert (back.result, back.after) == (EditResult.CHANGES, normalise_devices(rights))


@given(rights=the.devices(), area=st.sampled_from(["a1", "a9"]), pass_=wanted)
@settings(max_examples=examples(300))
def test_a_grant_and_then_a_withdrawal_restore_whoever_held_nothing_here(rights, area, pass_):
    before = normalise_devices(rights)
    if any(entry["area_id"] == area for entry in before.get("areas_list", [])):
        return
    given_ = decide(rights, AccessEdit(EditKind.GRANT, area, pass_), ALL)
    if not given_.is_sent:
        return
    assert decide(given_.after, AccessEdit(EditKind.WITHDRAW, area), ALL).after == before


@given(rights=the.strange_devices, wish=wishes, later=wishes)
@settings(max_examples=examples(500))
def test_taking_back_after_others_changed_other_areas_keeps_what_they_did(rights, wish, later):
    mine = decide(rights, wish, ALL)
    if mine.result != EditResult.CHANGES:
        return
    theirs = decide(mine.after, AccessEdit(later.kind, "a2", later.pass_, replace_hours=True), ALL)
    if theirs.result != EditResult.CHANGES:
        return
    back = undo(theirs.after, rights, mine.after, wish.area_id)
    assert back.result == EditResult.CHANGES
    assert others(back.after, wish.area_id) == others(theirs.after, wish.area_id)
    assert not compare_devices(
        {"default_mode": "option", "areas_list": _only(back.after, wish.area_id)},
        {"default_mode": "option", "areas_list": _only(normalise_devices(rights), wish.area_id)},
    )


@given(rights=the.devices(), wish=wishes, later=wishes)
@settings(max_examples=examples(300))
def test_what_somebody_else_changed_here_since_is_not_taken_back(rights, wish, later):
    mine = decide(rights, wish, ALL)
    if not mine.is_sent:
        return
    theirs = decide(
        mine.after, AccessEdit(later.kind, wish.area_id, later.pass_, replace_hours=True, include_everywhere=True), ALL
    )
    if theirs.is_sent and theirs.after != normalise_devices(rights):
        assert undo(theirs.after, rights, mine.after, wish.area_id).result == EditResult.CHANGED_SINCE


@given(rights=the.strange_devices, wish=wishes, first=wishes, elsewhere=st.sampled_from(["a2", "a9", "a-new"]))
@settings(max_examples=examples(500))
def test_an_edit_of_another_area_leaves_what_decides_here_unless_the_mode_changed(rights, wish, first, elsewhere):
    theirs = decide(
        rights,
        AccessEdit(first.kind, elsewhere, first.pass_, replace_hours=True, include_everywhere=first.include_everywhere),
        ALL,
    )
    if elsewhere == wish.area_id or not theirs.is_sent:
        return
    same_mode = theirs.after["default_mode"] == normalise_devices(rights)["default_mode"]
    assert (rights_for_area(theirs.after, wish.area_id) == rights_for_area(rights, wish.area_id)) == same_mode
    if not same_mode:
        return
    mine, merged = decide(rights, wish, ALL), decide(theirs.after, wish, ALL)
    assert merged.result == mine.result, "what was previewed is not what is sent"
    if merged.is_sent:
        assert others(merged.after, wish.area_id) == others(theirs.after, wish.area_id)
        assert _only(merged.after, wish.area_id) == _only(mine.after, wish.area_id)


def test_what_decides_about_an_area_are_the_mode_its_own_entry_and_what_nobody_knows():
    here, there = {"area_id": "a1", "pass": OFFICE}, {"area_id": "a2", "pass": OFFICE}
    strange, nameless = {"area_id": "a1", "pass": {"effect": "allow_once"}}, {"zone": "north"}

    def listed(*entries, **more):
        return {"default_mode": "option", "areas_list": [*entries], **more}

    was = rights_for_area(listed(here, there), "a1")
    for same in (listed(here), listed({"area_id": "a2", "pass": {"effect": "allow_once"}}, here)):
        assert rights_for_area(same, "a1") == was
    for other in (
        listed(there), listed({"area_id": "a1", "pass": always()}, there), listed(strange, there),
        listed(here, strange, there), listed(here, there, nameless), listed(here, there, until="2027"),
        {"default_mode": "allow_all"}, {"default_mode": "deny_all"}, None, {"default_mode": "some"},
    ):  # fmt: skip
        assert rights_for_area(other, "a1") != was
    assert rights_for_area(listed(there), "a1") != rights_for_area({"default_mode": "deny_all"}, "a1")


def _only(rights, area_id):
    return [e for e in rights.get("areas_list", []) if isinstance(e, dict) and e.get("area_id") == area_id]


def test_whoever_may_enter_everywhere_keeps_it_unless_somebody_says_otherwise():
    everywhere = {"default_mode": "allow_all"}
    assert decide(everywhere, AccessEdit(EditKind.WITHDRAW, "a1"), ALL).result == EditResult.EVERYWHERE
    assert decide(everywhere, AccessEdit(EditKind.GRANT, "a1", OFFICE), ALL).result == EditResult.EVERYWHERE
    assert decide(everywhere, AccessEdit(EditKind.GRANT, "a1", always()), ALL).result == EditResult.UNCHANGED
    widened = decide(everywhere, AccessEdit(EditKind.WITHDRAW, "a1", include_everywhere=True), ALL)
    assert widened.result == EditResult.LISTED
    assert [entry["area_id"] for entry in widened.after["areas_list"]] == ["a2", "a3"]


def test_other_hours_here_are_kept_unless_they_are_less_or_shall_be_replaced():
    always_here = {"default_mode": "option", "areas_list": [{"area_id": "a1", "pass": always()}]}
    assert decide(always_here, AccessEdit(EditKind.GRANT, "a1", OFFICE), ALL).result == EditResult.OTHER_HOURS
    assert (
        decide(always_here, AccessEdit(EditKind.GRANT, "a1", OFFICE, replace_hours=True), ALL).result
        == EditResult.CHANGES
    )
    office_here = {"default_mode": "option", "areas_list": [{"area_id": "a1", "pass": OFFICE}]}
    assert decide(office_here, AccessEdit(EditKind.GRANT, "a1", always()), ALL).result == EditResult.CHANGES
    assert decide(office_here, AccessEdit(EditKind.GRANT, "a1", OFFICE), ALL).result == EditResult.UNCHANGED


def test_a_value_that_nobody_knows_here_is_left_alone():
    strange = {"default_mode": "option", "areas_list": [{"area_id": "a1", "pass": {"effect": "allow_once"}}]}
    for wish in (AccessEdit(EditKind.GRANT, "a1", always()), AccessEdit(EditKind.WITHDRAW, "a1")):
        assert decide(strange, wish, ALL).result == EditResult.UNKNOWN
    elsewhere = decide(strange, AccessEdit(EditKind.GRANT, "a2", always()), ALL)
    assert {"area_id": "a1", "pass": {"effect": "allow_once"}} in elsewhere.after["areas_list"]
    assert decide({"default_mode": "some"}, AccessEdit(EditKind.WITHDRAW, "a1"), ALL).result == EditResult.UNKNOWN


def test_decisions_agree_with_the_portals_own_decider():
    after = decide(None, AccessEdit(EditKind.GRANT, "a1", OFFICE), ALL).after
    monday = the.moment(the.FIRST_DAY, 0)
    assert decide_place(after, AreaPlace("a1"), monday + timedelta(hours=8)).allowed is True
    assert decide_place(after, AreaPlace("a1"), monday + timedelta(hours=20)).allowed is False


def test_giving_is_admitting_where_nobody_was_admitted():
    here, nothing, everywhere = (
        {"area_id": "a1", "pass": OFFICE},
        {"default_mode": "deny_all"},
        {"default_mode": "allow_all"},
    )
    office, always_here = listed(here), listed({"area_id": "a1", "pass": always()})
    strange = listed({"area_id": "a1", "pass": {"effect": "once"}})
    for before, after, is_given in (
        (None, office, True), (nothing, office, True), (office, always_here, True), (nothing, everywhere, True),
        (office, everywhere, True), (nothing, strange, True), (office, {"default_mode": "new"}, True),
        (office, office, False), (always_here, office, False), (everywhere, office, False), (office, nothing, False),
        (everywhere, always_here, False), (strange, strange, False), (strange, nothing, False),
    ):  # fmt: skip
        assert gives_access(before, after, "a1") == is_given, (before, after)


def listed(*entries):
    return {"default_mode": "option", "areas_list": list(entries)}
