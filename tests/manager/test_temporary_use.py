"""A facility manager and temporary keys: given at most once, never late, reported correctly, with a countdown."""

import html
import re
import time
from datetime import timedelta
from unittest import mock

import pytest

from portal.domain.intents import handlers
from portal.domain.intents.models import Intent, State
from portal.domain.people.models import Member
from portal.domain.places.models import KeyBox
from portal.members import queries, temporary_keys
from tests.support.members import MembersDesk, said
from tests.support.places import age_proof

EVERY_KEY = {"default_mode": "allow_all"}


@pytest.fixture
def desk(make):
    desk = MembersDesk(make(members=2))
    desk.member = desk.members()[0]
    token = desk.place.service.token
    path = f"/v1/members/{desk.member.member_id}"
    # The sandbox draws use periods at random, too.
    body = {"keys_pass": EVERY_KEY, "use_date_start": None, "use_date_end": None}
    assert desk.place.sandbox.api("PUT", path, body, token=token).status_code == 200
    with desk.scope():
        desk.boxes = list(KeyBox.objects.order_by("key_device_name", "pk"))
    for box in desk.boxes:  # which of them has no connection is random
        desk.place.sandbox.console(
            "devices", tenant_id=desk.place.service.tenant_id, device_id=box.key_device_id,
            has_power=True, is_connected=True, temporary_use_enabled=True,
        )  # fmt: skip
    desk.rest = f"{desk.member.member_id}/keys/"
    return desk


def units(desk, **chosen):
    """Return the keys by box: `b0=["01"]` means keys of the first box."""
    return [
        f"{number}@{desk.boxes[int(box[1:])].key_device_id}" for box, numbers in chosen.items() for number in numbers
    ]


def lend(desk, chosen, fields=None, **more):
    form = desk.fields(desk.rest) if fields is None else fields
    return desk.send(desk.rest, form, units=chosen, **{"period": "900", **more})


def commands(desk):
    found = desk.place.sandbox.commands(desk.place.service.tenant_id)
    return [(each["device_id"], each["targets"]) for each in found]


def test_keys_are_lent_for_a_while_and_the_page_counts_down(desk):
    answer = lend(desk, units(desk, b0=["01", "02"]), device_action="on", info="夜間清掃")
    words = said(answer)
    assert answer.redirect_chain, words
    assert f"{desk.boxes[0]}: 01, 02, for 15 minutes." in words
    left = int(re.search(r'class="running-left" data-left="(\d+)"', answer.content.decode())[1])
    assert 890 <= left <= 900
    assert commands(desk) == [(desk.boxes[0].key_device_id, ["01", "02"])]
    body = desk.intent().body
    assert body == {
        "target": "key", "timer": 900, "device_action": True, "info": "夜間清掃",
        "targets_list": [{"device_id": desk.boxes[0].key_device_id, "unit_no_list": ["01", "02"]}],
    }  # fmt: skip
    changed = desk.get(f"{desk.member.member_id}/")
    assert f"<ins>{html.escape(str(desk.boxes[0]))}: 01, 02</ins>" in changed
    assert "<ins>15 minutes</ins>" in changed


def test_a_repeated_request_extends_and_the_newest_word_on_a_key_counts(desk):
    lend(desk, units(desk, b0=["01", "02"]))
    assert "extends the time" in desk.get(desk.rest)
    lend(desk, units(desk, b0=["02"]), period="other", seconds="86400")
    with desk.scope():
        found = temporary_keys.running_uses(queries.intents_about(desk.member))
        assert sorted((each.units, each.seconds > 80_000) for each in found) == [(("01",), False), (("02",), True)]
    lend(desk, units(desk, b0=["01"]), period="other", seconds="0")
    with desk.scope():
        assert [each.units for each in temporary_keys.running_uses(queries.intents_about(desk.member))] == [("02",)]


def test_a_box_that_was_not_reached_is_said_and_does_not_run(desk):
    off = desk.boxes[1]
    desk.place.sandbox.console("devices", tenant_id=desk.place.service.tenant_id,
                               device_id=off.key_device_id, has_power=False)  # fmt: skip
    answer = lend(desk, units(desk, b0=["01"], b1=["01"]))
    assert f"Could not be reached, unchanged: {off}." in said(answer)
    with desk.scope():
        assert [each.box for each in temporary_keys.running_uses(queries.intents_about(desk.member))] == [
            str(desk.boxes[0])
        ]


def test_a_double_click_and_the_back_button_send_once_and_a_late_click_not_at_all(desk):
    fields = desk.fields(desk.rest)
    for _ in range(3):
        lend(desk, units(desk, b0=["01"]), fields)
    assert len(commands(desk)) == 1
    with mock.patch("time.time", return_value=time.time() - 60):
        fields = desk.fields(desk.rest)
    answer = lend(desk, units(desk, b0=["01"]), {**fields, "elapsed": "2000"})
    assert "More than 15 seconds passed since the click." in said(answer)
    assert len(commands(desk)) == 1


def test_what_is_wrong_with_the_form_is_said_and_nothing_is_sent(desk):
    for values, words in (
        ({"chosen": []}, "Choose at least one key."),
        ({"chosen": ["99@nowhere"]}, "Select a valid choice"),
        ({"period": "other", "seconds": "86401"}, "Enter at most 24 hours."),
        ({"period": "other", "seconds": "-1"}, "greater than or equal to 0"),
        ({"period": "other", "seconds": ""}, "Enter the number of seconds."),
        ({"info": "x" * 101}, "100"),
        ({"nonce": "forged"}, "Nothing was sent"),
    ):
        chosen = values.pop("chosen", units(desk, b0=["01"]))
        answer = lend(desk, chosen, **values)
        assert words in said(answer), values
    assert desk.place.calls(11) == []


def test_the_services_refusals_are_explained(desk):
    other = desk.members()[1]
    token = desk.place.service.token
    path = f"/v1/members/{other.member_id}"
    desk.place.sandbox.api("PUT", path, {"keys_pass": {"default_mode": "deny_all"}}, token=token)
    desk.get(f"{other.member_id}/reading/")
    desk.rest = f"{other.member_id}/keys/"
    assert "no permission" in desk.get(desk.rest)
    answer = lend(desk, units(desk, b0=["01"]))
    assert "no permission for key 01" in said(answer)
    page = desk.get(f"{other.member_id}/")
    assert "the key box must allow keys not normally used" in page


def test_a_lost_answer_is_never_sent_again_and_the_log_tells_what_came_of_it(desk):
    desk.place.sandbox.fault("drop_after", "temporary_use", desk.place.service.tenant_id)
    answer = lend(desk, units(desk, b0=["01"]), info="朝の点検")
    assert "The keys may be available. The request will not be sent again." in said(answer)
    assert "will not be sent again" in said(answer)
    with desk.scope():
        intent = Intent.objects.get(operation="temporary_use")
        assert (intent.state, len(commands(desk))) == (State.UNCERTAIN, 1)
        assert "Uncertain" in desk.get(desk.rest)
        found = handlers.handler_of("temporary_use").reconcile(intent)
        assert (found.applied, found.evidence["logs"]) == (True, 1)
        Intent.objects.filter(pk=intent.pk).update(sent_at=intent.sent_at + timedelta(hours=1))
        intent.refresh_from_db()
        found = handlers.handler_of("temporary_use").reconcile(intent)
        assert (found.applied, found.evidence["logs"]) == (None, 0)


def test_the_member_is_known_to_hold_permission_or_not_or_nobody_knows():
    def rights(keys):
        return {"keys_pass": keys}

    option = {"default_mode": "option", "key_devices_list": [
        {"key_device_id": "A", "default_mode": "allow_all"},
        {"key_device_id": "B", "default_mode": "option", "units": [
            {"unit_no": "01", "pass": {"effect": "allow", "schedule": []}}, {"unit_no": "02", "pass": {"effect": "?"}},
        ]},
    ]}  # fmt: skip
    assert temporary_keys.has_permission(None, "A", "01") is None
    assert temporary_keys.has_permission({}, "A", "01") is False
    assert temporary_keys.has_permission(rights("odd"), "A", "01") is None
    assert temporary_keys.has_permission(rights(EVERY_KEY), "A", "01") is True
    assert temporary_keys.has_permission(rights({"default_mode": "deny_all"}), "A", "01") is False
    assert temporary_keys.has_permission(rights({"default_mode": "later"}), "A", "01") is None
    asked = (("A", "01"), ("B", "01"), ("B", "02"), ("B", "03"), ("C", "01"))
    assert [temporary_keys.has_permission(rights(option), *each) for each in asked] == [True, True, None, False, False]


def test_only_who_may_operate_doors_lends_keys_and_is_asked_who_they_are_before_the_form(desk):
    for role in ("auditor", "receptionist", "guard"):
        someone = desk.place.client(desk.place.staff(role))
        assert someone.get(desk.url + desk.rest).status_code == 403
        assert someone.post(desk.url + desk.rest, {"units": units(desk, b0=["01"])}).status_code == 403
    age_proof(desk.client.session)
    asked = desk.client.get(desk.url + desk.rest)
    assert "/accounts/reauthenticate/" in asked["Location"]
    assert desk.rest.partition("/")[0] in asked["Location"]
    assert desk.place.calls(11) == []


def test_a_tenant_of_no_key_box_is_told_so(make):
    desk = MembersDesk(make(members=1))
    with desk.scope():
        KeyBox.objects.all().delete()
        Member.objects.update(rights_read_at=None)
    assert "No key boxes yet" in desk.get(f"{desk.members()[0].member_id}/keys/")
