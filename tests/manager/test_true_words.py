"""Pages report what the service said and did: no hidden refusal, and no text of ours shown as the service's."""

import json
import re
from datetime import datetime

import pytest

from accessapi.limits import JST
from portal.domain.intents import handlers
from portal.domain.intents.models import Intent, State
from portal.domain.places.models import KeyBox
from tests.support.members import MembersDesk, said

STATED = "[limits]\none_time_timestep_max = 3600\n"


@pytest.fixture
def desk(place):
    return MembersDesk(place)


def fault(desk, kind, operation, **values):
    desk.place.sandbox.fault(kind, operation, desk.place.service.tenant_id, **values)


def read(desk):
    """Return the text of the member's page, after reading the member from the service."""
    return said(desk.client.get(f"{desk.url}{desk.members()[0].member_id}/reading/"))


@pytest.mark.parametrize(("refusal", "words"), [
    ({"status": 403, "error_code": "40377", "error_detail": "Closed on Sundays"}, ["40377", "Closed on Sundays"]),
    ({"status": 403, "error_code": "40301"}, ["The connection lacks the API permission for this."]),
    ({"status": 401, "error_code": "40101"}, ["The service no longer accepts this connection."]),
    ({"status": 500, "error_code": "50001"}, ["The service reported an error."]),
])  # fmt: skip
def test_a_refusal_is_no_silence(desk, refusal, words):
    fault(desk, "status", "read_member", **refusal)
    page = read(desk)
    assert "did not answer" not in page
    assert "Showing the last loaded data." in page
    for each in words:
        assert each in page


def test_the_services_own_words_are_in_code_type(desk):
    fault(desk, "status", "read_member", status=403, error_code="40377", error_detail="Closed <on> Sundays")
    page = desk.client.get(f"{desk.url}{desk.members()[0].member_id}/reading/").content.decode()
    assert "“<code>Closed &lt;on&gt; Sundays</code>”" in page


def test_silence_is_said_to_be_silence(desk):
    fault(desk, "drop_after", "read_member")
    assert "The service did not respond. Showing the last loaded data." in read(desk)


def test_our_own_words_are_never_the_services(desk):
    fault(desk, "drop_after", "create_member")
    answer = desk.send("new/", member_name="Q", membergroup_id=desk.group.membergroup_id, qr="none")
    page = said(answer)
    assert "The connection was lost before the response arrived." in page
    assert "Response from the service" not in page
    assert "outcome unknown" not in page


def test_there_is_no_advice_under_what_is_done(desk):
    desk.send(f"{desk.members()[0].member_id}/edit/", member_name="Q")
    intent = desk.intent()
    assert intent.state == State.SUCCEEDED
    with desk.scope():
        Intent.objects.filter(pk=intent.pk).update(reason="not_sent")
    page = said(desk.client.get(f"/t/{desk.place.tenant.slug}/intents/{intent.pk}/"))
    assert "Next steps" not in page


def test_a_missing_permission_is_named_and_no_contract_is_blamed(desk):
    fault(desk, "status", "update_member", status=403, error_code="40301", error_detail="out of scope")
    page = said(desk.send(f"{desk.members()[0].member_id}/edit/", member_name="Q"))
    assert "The connection lacks the permission members:write." in page
    assert "out of scope" in page
    assert "contract" not in page


def test_our_words_prove_a_temporary_use_wherever_the_service_keeps_them(desk):
    fault(desk, "drop_after", "temporary_use")
    member = desk.members()[0]
    with desk.scope():
        box = KeyBox.objects.order_by("pk")[0].key_device_id
    fields = desk.fields(f"{member.member_id}/keys/")
    desk.send(f"{member.member_id}/keys/", fields, units=[f"01@{box}"], period="900", info="朝の点検")
    record = {"history_id": "h1", "datetime": datetime.now(JST).isoformat(timespec="seconds"), "category": "operation",
              "member": {"id": member.member_id}, "device": {"id": box}, "extra": {"notes": ["朝の点検"]}}  # fmt: skip
    told = json.dumps({"histories": [record]}, ensure_ascii=False)
    fault(desk, "not_json", "list_histories", body=told, content_type="application/json")
    with desk.scope():
        found = handlers.handler_of("temporary_use").reconcile(Intent.objects.get(operation="temporary_use"))
    assert (found.applied, found.evidence["logs"]) == (True, 1)


def once(desk, timestep, rest=""):
    rest = rest or f"{desk.members()[0].member_id}/edit/"
    return desk.send(rest, qr="one_time", qr_data="ONE-1", qr_timestep=str(timestep))


def test_a_limit_below_ours_is_learned_from_the_refusal_and_said_beside_the_field(desk):
    words = "qrcode.one_time_qr.timestep: must be at most 3600 seconds"
    fault(desk, "status", "update_member", status=400, error_code="40002", error_detail=words)
    page = said(once(desk, 86400))
    assert f"Response from the service: “{words}”" in page
    assert "The service allows at most 3600." in page
    assert "The service allows at most 3600." in said(desk.client.get(f"{desk.url}new/"))
    once(desk, 7200)  # the service may have changed its behaviour since
    assert desk.intent().state == State.SUCCEEDED
    assert "The service allows at most" not in said(desk.client.get(f"{desk.url}new/"))


def test_a_refusal_that_names_no_limit_says_what_was_refused(desk):
    fault(desk, "status", "update_member", status=400, error_code="40002", error_detail="timestep is too long")
    once(desk, 86400)
    assert "The service refused 86400." in said(desk.client.get(f"{desk.url}new/"))


def test_a_limit_that_the_overrides_file_states_is_a_rule_of_the_form(make):
    desk = MembersDesk(make(overrides=STATED))
    assert "The service allows at most 3600." in said(desk.client.get(f"{desk.url}new/"))
    page = said(once(desk, 3601))
    assert "less than or equal to 3600" in page
    assert desk.place.calls(6) == []
    once(desk, 3600)
    assert desk.intent().state == State.SUCCEEDED


@pytest.mark.parametrize("status", [400, 403])
def test_a_group_that_may_not_be_written_is_no_fault_of_its_name(desk, status):
    fault(desk, "status", "create_membergroup", status=status, error_code="40301", error_detail="out of scope")
    url = f"/t/{desk.place.tenant.slug}/groups/new/"
    page = desk.client.get(url).content.decode()
    nonce = re.search(r'name="nonce" value="([^"]*)"', page)[1]
    answer = desk.client.post(url, {"membergroup_name": "営業", "nonce": nonce})
    assert "The connection lacks the permission membergroups:write." in said(answer)
    assert 'aria-invalid="true"' not in answer.content.decode()
