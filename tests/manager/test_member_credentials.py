"""A facility manager and members' credentials: QR codes in every variant, one-time codes, privileges."""

import re
from datetime import timedelta

import pytest
from django.core import signing

from portal.base.timers.clock import database_now
from portal.domain.budget.models import CallCount
from portal.domain.budget.priorities import Priority
from portal.domain.people.models import Member
from portal.members import qr_codes
from tenants.models import AuditEntry
from tests.support.call_budgets import an_hour_of
from tests.support.images import read_qr
from tests.support.log import happened, loaded, record
from tests.support.members import MembersDesk, said
from tests.support.places import age_proof

HTMX = {"HX-Request": "true"}


@pytest.fixture
def desk(make):
    return MembersDesk(make(members=2))


def one_time_member(desk, **settings):
    member = desk.members()[0]
    desk.send(f"{member.member_id}/edit/", qr="one_time", qr_data="GATE-7", **settings)
    return member


def ask(desk, member, rest="one-time/", client=None, **fields):
    return (client or desk.client).post(f"{desk.url}{member.member_id}/{rest}", fields, headers=HTMX)


def permit_of(answer):
    return re.search(r'name="permit" value="([^"]+)"', answer.content.decode())[1]


def test_every_variant_of_a_qr_code_and_its_removal(desk):
    member = desk.members()[0]
    rest = f"{member.member_id}/edit/"

    def stored():
        return desk.at_service(member.member_id).get("qrcode")

    desk.send(rest, qr="data", qr_data="STATIC-1")
    assert stored() == {"data": "STATIC-1"}
    desk.send(rest, qr="one_time", qr_timestep="60", qr_skew="2")  # the present data stays
    once = stored()
    assert once["data"] == "STATIC-1"
    assert {name: once["one_time_qr"][name] for name in ("enabled", "timestep", "skew")} == {
        "enabled": True, "timestep": 60, "skew": 2,
    }  # fmt: skip
    page = said(desk.client.get(f"{desk.url}{member.member_id}/reading/"))
    assert "60 s" in page
    assert 'name="qr_timestep" value="60"' in desk.get(rest)
    longest = desk.place.tenant.environment.catalogue.limits.one_time_timestep_max
    desk.send(rest, qr="one_time", qr_timestep=str(longest))
    assert stored()["one_time_qr"]["timestep"] == longest
    with desk.scope():
        assert once["one_time_qr"]["totp_seed"] not in repr(Member.objects.get(pk=member.pk).qrcode)
    desk.send(rest, qr="email", qr_email="kana@example.test")
    assert stored()["email"] == "kana@example.test"
    desk.send(rest, qr="remove")
    assert stored() is None
    changed = desk.get(f"{member.member_id}/")
    assert "STATIC-1" not in changed


def test_a_code_that_somebody_has_is_refused_beside_its_field(desk):
    first, second = desk.members()[:2]
    desk.send(f"{first.member_id}/edit/", qr="data", qr_data="TAKEN-1")
    answer = desk.send(f"{second.member_id}/edit/", qr="data", qr_data="TAKEN-1")
    beside = answer.content.decode().partition('id="id_qr_data_errors"')[2].partition("</ul>")[0]
    assert "This QR code is already registered. Use another one." in beside


PASSED_ON = {
    "a card": {"card_data": "0000123400005678"},
    "a QR code": {"qr": "data", "qr_data": "TAKEN-1"},
    "a member code": {"member_code": "P-007"},
    "all of them": {"card_data": "0000123400005679", "qr": "data", "qr_data": "TAKEN-2", "member_code": "P-008"},
}


def created(desk, name, **values):
    """Create a member by the form. Return its ID."""
    given = {"member_name": name, "membergroup_id": desk.group.membergroup_id, "qr": "none"} | values
    answer = desk.send("new/", **given)
    assert 'data-state="done"' in answer.content.decode(), said(answer)
    return desk.intent().result["member_id"]


@pytest.mark.parametrize("values", PASSED_ON.values(), ids=PASSED_ON)
class TestWhatADeletedMemberHad:
    def test_is_a_new_members_at_once_and_the_records_stay_with_the_deleted_one(self, desk, values):
        old = created(desk, "前の人", **values)
        loaded(desk.place)
        happened(desk.place, record(database_now() - timedelta(minutes=5), member_id=old, member_name="前の人"))
        desk.send(f"{old}/delete/", confirmed="1")
        new = created(desk, "次の人", **values)
        assert new != old
        assert desk.at_service(old)["error_code"] == "40401"
        assert values.get("card_data") == desk.at_service(new).get("card_data")
        of_old, of_new = (
            said(desk.client.get(f"{desk.url.replace('members', 'logs')}?person={each}")) for each in (old, new)
        )
        assert "Entry 前の人" in of_old
        assert "前の人" not in of_new
        assert "前の人" not in desk.get(f"{new}/")

    def test_is_given_to_an_existing_member(self, desk, values):
        old, other = created(desk, "前の人", **values), desk.members()[0].member_id
        desk.send(f"{old}/delete/", confirmed="1")
        assert 'data-state="done"' in desk.send(f"{other}/edit/", **values).content.decode()
        assert desk.at_service(other).get("card_data") == values.get("card_data", desk.at_service(other)["card_data"])


@pytest.mark.parametrize("values", [PASSED_ON["a card"], PASSED_ON["a QR code"]], ids=["a card", "a QR code"])
def test_as_long_as_its_deletion_is_refused_a_member_keeps_what_it_had(desk, values):
    old = created(desk, "前の人", **values)
    desk.place.sandbox.fault("status", "delete_member", desk.place.service.tenant_id, status=403, error_code="40301")
    desk.send(f"{old}/delete/", confirmed="1")
    given = {"member_name": "次の人", "membergroup_id": desk.group.membergroup_id, "qr": "none"}
    refusal = said(desk.send("new/", **given | values))
    assert "code is already registered." in refusal or "According to the portal, it belongs to 前の人" in refusal
    desk.send(f"{old}/delete/", confirmed="1")
    assert 'data-state="done"' in desk.send("new/", **given | values).content.decode()


def test_the_limits_of_one_time_codes_are_said_beside_their_fields(desk):
    member = desk.members()[0]
    rest = f"{member.member_id}/edit/"
    for field, value in (("qr_timestep", "29"), ("qr_timestep", "86401"), ("qr_skew", "-1"), ("qr_skew", "101")):
        answer = desk.send(rest, qr="one_time", qr_data="D", **{field: value})
        assert f"id_{field}_errors" in answer.content.decode()
    with desk.scope():
        Member.objects.filter(pk=member.pk).update(has_qr=False, qrcode=None)
    assert "Enter the QR code data." in said(desk.send(rest, qr="one_time", qr_data=""))
    assert desk.place.calls(6) == []


def test_qr_data_is_drawn_as_a_picture_on_request_alone(desk):
    member = desk.members()[0]
    desk.send(f"{member.member_id}/edit/", qr="data", qr_data="SECRET=壱&2")
    assert read_qr(desk.get(f"{member.member_id}/")) == ""
    shown = ask(desk, member, "reveal/qr/").content.decode()
    assert read_qr(shown) == "SECRET=壱&2"
    assert 'data-secret="30"' in shown
    assert read_qr(desk.client.post(f"{desk.url}{member.member_id}/reveal/qr/").content.decode()) == "SECRET=壱&2"
    with desk.scope():
        assert AuditEntry.objects.filter(action="member.reveal_qr").count() == 2


def test_the_code_of_now_is_drawn_counted_written_down_and_renewed_by_the_page(desk):
    member = one_time_member(desk, qr_timestep="60")
    assert "Show the current code" in desk.get(f"{member.member_id}/")
    assert desk.place.calls(12) == []
    answer = ask(desk, member)
    read = read_qr(answer.content.decode())
    assert read.startswith("SL-OTQR?v=1&data=GATE-7&totp=")
    assert 0 < int(re.search(r'data-left="(\d+)"', answer.content.decode())[1]) <= 60
    assert "no-store" in answer["Cache-Control"]
    assert len(desk.place.calls(12)) == 1
    again = ask(desk, member, "one-time/next/", permit=permit_of(answer))
    assert read_qr(again.content.decode()).startswith("SL-OTQR?v=1")
    assert len(desk.place.calls(12)) == 2
    with desk.scope():
        assert AuditEntry.objects.filter(action="member.reveal_one_time").count() == 1
        assert CallCount.objects.filter(priority=Priority.JOBS).exists()
    whole = desk.client.post(f"{desk.url}{member.member_id}/one-time/").content.decode()
    assert "<html" in whole
    assert read_qr(whole).startswith("SL-OTQR?v=1")
    assert "One-time code shown" in desk.get(f"{member.member_id}/")


def test_renewing_needs_a_permit_of_this_person_and_member_that_is_young(desk, monkeypatch):
    member, other = one_time_member(desk), desk.members()[1]
    permit = permit_of(ask(desk, member))
    colleague = desk.place.client(desk.place.staff("facility manager"))
    for answer in (
        ask(desk, member, "one-time/next/", permit="forged"),
        ask(desk, member, "one-time/next/"),
        ask(desk, other, "one-time/next/", permit=permit),
        ask(desk, member, "one-time/next/", client=colleague, permit=permit),
    ):
        assert "Continue" in said(answer)
        assert read_qr(answer.content.decode()) == ""
    monkeypatch.setattr(qr_codes, "RENEW_SECONDS", -1)
    assert "Continue" in said(ask(desk, member, "one-time/next/", permit=permit))
    assert signing.loads(permit, salt="portal.members.one_time")[2] == member.member_id
    assert len(desk.place.calls(12)) == 1


def test_when_the_hours_calls_run_short_the_page_asks_before_it_goes_on(desk):
    member = one_time_member(desk)
    permit = permit_of(ask(desk, member))
    spent = len(desk.place.calls())
    # A quarter of the hour's calls is not available to automatic refreshes, a tenth not to people.
    an_hour_of(int(spent / 0.8), desk.place.sandbox, desk.place.connection)
    renewed = ask(desk, member, "one-time/next/", permit=permit)
    assert "Few API calls left this hour." in said(renewed)
    assert "Continue" in said(renewed)
    an_hour_of(1, desk.place.sandbox, desk.place.connection)
    assert "No API calls left this hour. The next code is available at" in said(ask(desk, member))
    assert len(desk.place.calls(12)) == 1


def test_a_member_without_one_time_codes_or_a_silent_service_shows_no_code_and_the_reason(desk):
    member = one_time_member(desk)
    desk.place.sandbox.fault("status", "one_time_qr", desk.place.service.tenant_id, status=503)
    assert "The service reported an error." in said(ask(desk, member))
    desk.place.sandbox.fault("not_json", "one_time_qr", desk.place.service.tenant_id)
    assert "could not be read" in said(ask(desk, member))
    other = desk.members()[1]
    desk.send(f"{other.member_id}/edit/", qr="remove")
    answer = ask(desk, other)
    assert "No code available." in said(answer)
    assert "no one-time QR" in said(answer)
    with desk.scope():
        assert not AuditEntry.objects.filter(action="member.reveal_one_time").exists()


def test_who_was_not_asked_lately_is_asked_first_and_who_may_not_see_secrets_sees_none(desk):
    member = one_time_member(desk)
    age_proof(desk.client.session)
    assert "/accounts/reauthenticate/" in ask(desk, member)["HX-Redirect"]
    auditor = MembersDesk(desk.place, "auditor")
    assert "Show the current code" not in auditor.get(f"{member.member_id}/")
    for rest in ("one-time/", "one-time/next/", "reveal/qr/"):
        assert auditor.client.post(f"{desk.url}{member.member_id}/{rest}").status_code == 403
    assert desk.place.calls(12) == []


def test_privileges_are_sent_whole_with_what_the_portal_does_not_know(desk):
    member = desk.members()[0]
    desk.get(f"{member.member_id}/reading/")
    with desk.scope():
        stored = Member.objects.get(pk=member.pk)
        stored.rights["privilege"] |= {"keys_without_2fa": False, "night_shift": "yes"}
        stored.save()
    form = desk.get(f"{member.member_id}/edit/")
    assert "Can take keys without two-factor authentication" in form
    desk.send(f"{member.member_id}/edit/", keys_without_2fa="on")
    sent = desk.intent().body["privilege"]
    assert (sent["keys_without_2fa"], sent["night_shift"]) == (True, "yes")  # which this service refuses
    desk.get(f"{member.member_id}/reading/")
    desk.send(f"{member.member_id}/edit/", keys_without_2fa="on")
    assert desk.at_service(member.member_id)["privilege"]["keys_without_2fa"] is True
    assert re.search(r"<del>no</del>\s*→\s*<ins>yes</ins>", desk.get(f"{member.member_id}/"))


def test_privileges_that_were_never_read_are_not_offered(desk):
    member = desk.members()[0]
    assert "keys_without_2fa" not in desk.get(f"{member.member_id}/edit/")


def test_a_code_without_an_end_is_shown_for_half_a_minute(desk):
    member = one_time_member(desk)
    body = f'{{"member_id": "{member.member_id}", "one_time_qr_data": "SL-OTQR?v=1&data=x&totp=1", "version": "1"}}'
    desk.place.sandbox.fault("not_json", "one_time_qr", desk.place.service.tenant_id, body=body,
                             content_type="application/json")  # fmt: skip
    answer = ask(desk, member)
    assert "How long the code is valid is unknown." in said(answer)
    assert int(re.search(r'data-left="(\d+)"', answer.content.decode())[1]) <= timedelta(seconds=30).seconds
