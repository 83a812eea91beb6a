"""A facility manager and the members: finding, creating, changing and deleting them, with a real service."""

import re

import pytest
from django.utils.html import escape

from portal.domain.people.models import Member
from tenants.models import AuditEntry
from tests.support.call_budgets import an_hour_of
from tests.support.forms import forms_of
from tests.support.members import MembersDesk, as_read, said


@pytest.fixture
def desk(place):
    return MembersDesk(place)


def test_a_new_member_is_created_at_the_service_and_shown_with_its_outcome(desk):
    answer = desk.send(
        "new/", member_name="山田 太郎", member_code="007", membergroup_id=desk.group.membergroup_id, qr="none",
        card_data="0000123400005678", use_date_start="2026-04-01T09:00", use_date_end="2027-03-31T23:59:59",
    )  # fmt: skip
    assert answer.redirect_chain, said(answer)
    words = said(answer)
    assert "山田 太郎" in words
    assert 'data-state="done"' in answer.content.decode()
    member_id = desk.intent().result["member_id"]
    stored = desk.at_service(member_id)
    assert stored["member_code"] == "007"
    assert stored["card_data"] == "0000123400005678"
    assert stored["use_date_start"] == "2026-04-01T09:00:00+09:00"
    assert stored["use_date_end"] == "2027-03-31T23:59:59+09:00"
    assert "0000123400005678" not in answer.content.decode()


def test_a_card_of_somebody_else_is_refused_beside_its_field_and_nothing_typed_is_lost(desk):
    with desk.scope():
        holder = Member.objects.filter(has_card=True).first()
        card = holder.card_data
    answer = desk.send(
        "new/", member_name="鈴木 一郎", member_code="0042", membergroup_id=desk.group.membergroup_id, qr="none",
        card_data=card,
    )  # fmt: skip
    html = answer.content.decode()
    field = html[html.index('id="id_card_data"') :][:1500]
    assert "40901" in field
    assert escape(holder.member_name) in field
    assert 'value="鈴木 一郎"' in html
    assert 'value="0042"' in html
    assert f'value="{card}"' in html
    again = re.search(r'name="nonce" value="([^"]+)"', html)[1]
    fixed = desk.send("new/", {"nonce": again}, member_name="鈴木 一郎", member_code="0042",
                      membergroup_id=desk.group.membergroup_id, qr="none", card_data="")  # fmt: skip
    assert 'data-state="done"' in fixed.content.decode()


def test_a_refused_change_is_in_the_history_as_refused(desk):
    with desk.scope():
        holder, member = Member.objects.filter(has_card=True)[:2]
        card = holder.card_data
    desk.send(f"{member.member_id}/edit/", card_data=card)
    history = said(desk.client.get(f"{desk.url}{member.member_id}/")).partition("Change history")[2]
    assert re.search(r"Change member: \S.*? Refused", history), history


def test_a_change_sends_only_what_was_changed_and_tells_before_and_after(desk):
    member = desk.members()[0]
    before = desk.at_service(member.member_id)
    answer = desk.send(f"{member.member_id}/edit/", member_name="佐々木 花子", use_date_end="2030-12-31T23:59:59")
    html = answer.content.decode()
    assert "佐々木 花子" in html
    assert 'data-state="done"' in html
    told = f"<del>{member.member_name}</del> → <ins>佐々木 花子</ins>".replace("'", "&#x27;")
    assert told in " ".join(html.split())
    assert set(desk.intent().body) == {"member_name", "use_date_end"}
    after = desk.at_service(member.member_id)
    assert after["member_name"] == "佐々木 花子"
    assert after["use_date_end"] == "2030-12-31T23:59:59+09:00"
    same = [name for name in before if name not in ("member_name", "use_date_end")]
    assert {name: after[name] for name in same} == {name: before[name] for name in same}


def test_what_others_changed_meanwhile_is_neither_sent_nor_overwritten(desk):
    member = desk.members()[0]
    fields = desk.fields(f"{member.member_id}/edit/")
    with desk.scope():
        Member.objects.filter(pk=member.pk).update(member_name="Changed elsewhere")
    desk.send(f"{member.member_id}/edit/", fields, member_code="X1")
    assert desk.intent().body == {"member_code": "X1"}


def test_an_empty_date_is_cleared_a_card_and_a_qr_code_are_removed(desk):
    made = {"member_name": "M", "membergroup_id": desk.group.membergroup_id, "card_data": "0011223344556677"}
    desk.send(
        "new/", **made, qr="data", qr_data="ABC-1", use_date_start="2026-01-01T00:00", use_date_end="2027-01-01T00:00"
    )
    member_id = desk.intent().result["member_id"]
    assert desk.at_service(member_id)["qrcode"]["data"] == "ABC-1"
    desk.send(f"{member_id}/edit/", use_date_end="", card_remove="on", qr="remove")
    assert desk.intent().body == {"use_date_end": None, "card_data": "", "qrcode": None}
    stored = desk.at_service(member_id)
    assert stored["use_date_start"] == "2026-01-01T00:00:00+09:00"
    assert not {"use_date_end", "card_data", "qrcode"} & set(stored)
    with desk.scope():
        member = Member.objects.get(member_id=member_id)
    assert (member.has_card, member.has_qr, member.use_date_end) == (False, False, None)


def test_an_unchanged_form_sends_nothing(desk):
    member = desk.members()[0]
    answer = desk.send(f"{member.member_id}/edit/")
    assert "No changes. Nothing was sent" in said(answer)
    assert desk.place.calls(6) == []


def test_a_new_qr_code_by_email_or_for_one_time_codes(desk):
    member = desk.members()[0]
    desk.send(f"{member.member_id}/edit/", qr="email", qr_email="hanako@example.test")
    assert desk.at_service(member.member_id)["qrcode"]["email"] == "hanako@example.test"
    desk.send(f"{member.member_id}/edit/", qr="one_time", qr_data="ONE-1")
    page = said(desk.client.get(f"{desk.url}{member.member_id}/reading/"))
    assert "One-time code" in page
    assert desk.at_service(member.member_id)["qrcode"]["one_time_qr"]["totp_seed"] not in page
    assert "ONE-1" not in page


def test_a_deletion_is_asked_for_names_the_face_and_takes_the_member_out_of_the_list(desk):
    member = desk.members()[0]
    assert "face image" in desk.get(f"{member.member_id}/delete/")
    answer = desk.send(f"{member.member_id}/delete/", confirmed="1")
    assert as_read(f"Done: Delete member: {member.member_name}") in said(answer)
    assert desk.at_service(member.member_id)["error_code"] == "40401"
    assert member.member_id not in [each.member_id for each in desk.members()]
    assert "The page stays until the next full member list is loaded" in desk.get(f"{member.member_id}/")
    assert desk.client.get(f"{desk.url}{member.member_id}/edit/").status_code == 404


def test_deleting_somebody_who_is_gone_already_is_done(desk):
    member = desk.members()[0]
    fields = desk.fields(f"{member.member_id}/delete/")
    desk.place.sandbox.api("DELETE", f"/v1/members/{member.member_id}", token=desk.place.service.token)
    answer = desk.send(f"{member.member_id}/delete/", fields, confirmed="1")
    assert "This member was already deleted from the service." in said(answer)
    assert member.member_id not in [each.member_id for each in desk.members()]


def test_the_same_form_sent_twice_makes_one_call_and_one_member(desk):
    fields = desk.fields("new/") | {"member_name": "One", "membergroup_id": desk.group.membergroup_id}
    pages = [desk.send("new/", fields) for _ in range(3)]
    assert len({page.redirect_chain[-1][0] for page in pages}) == 1
    assert len(desk.place.calls(4)) == 1


def test_the_back_button_and_other_values_send_nothing_until_asked_again(desk):
    fields = desk.fields("new/") | {"member_name": "One", "membergroup_id": desk.group.membergroup_id}
    desk.send("new/", fields)
    answer = desk.send("new/", fields, member_name="Two")
    assert "This form was already sent once. The values below have not been sent. Send it again to apply them." in said(
        answer
    )
    assert 'value="Two"' in answer.content.decode()
    assert len(desk.place.calls(4)) == 1
    desk.send("new/", fields)
    assert len(desk.place.calls(4)) == 1, "the first one, sent again, leads to its page"
    shown = next(form for form in forms_of(answer.content.decode(), f"{desk.url}new/") if "member_name" in form.typed)
    for _ in range(2):
        assert said(desk.client.post(shown.address, shown.data(), follow=True)).startswith("Two · ")
    assert len(desk.place.calls(4)) == 2


def test_a_forged_or_missing_nonce_sends_nothing_and_keeps_what_was_typed(desk):
    fields = desk.fields("new/") | {"member_name": "Kept", "membergroup_id": desk.group.membergroup_id}
    for nonce in ("", "forged", fields["nonce"][:-1]):
        answer = desk.send("new/", fields, nonce=nonce)
        assert "Nothing was sent" in said(answer)
        assert 'value="Kept"' in answer.content.decode()
    assert desk.place.calls(4) == []


def test_a_missing_contract_is_said_in_the_services_words(make):
    desk = MembersDesk(make(contracts=("door",)))
    fields = desk.fields("new/") | {"member_name": "Q", "membergroup_id": desk.group.membergroup_id}
    answer = desk.send("new/", fields, qr="data", qr_data="D")
    assert desk.place.tenant.environment.catalogue.errors.contract.qr[0] in said(answer)
    assert "Nothing was changed" in said(answer)


def test_a_card_is_masked_until_somebody_who_may_asks_and_that_is_written_down(desk):
    with desk.scope():
        member = Member.objects.filter(has_card=True).first()
        card = member.card_data
    assert card not in desk.get(f"{member.member_id}/")
    assert card not in desk.get(f"{member.member_id}/reading/")
    shown = desk.client.post(f"{desk.url}{member.member_id}/reveal/card/", headers={"HX-Request": "true"})
    assert card in shown.content.decode()
    assert 'data-secret="30"' in shown.content.decode()
    assert "no-store" in shown["Cache-Control"]
    assert card in desk.client.post(f"{desk.url}{member.member_id}/reveal/card/").content.decode()
    assert desk.client.get(f"{desk.url}{member.member_id}/reveal/card/").status_code == 405
    with desk.scope():
        entries = AuditEntry.objects.filter(action="member.reveal_card", by=desk.user)
        assert entries.count() == 2
        assert card not in repr([(e.summary, e.before, e.after, e.target) for e in AuditEntry.objects.all()])


def test_the_page_reads_the_service_once_and_shows_rights_in_plain_words(desk):
    member = desk.members()[0]
    html = desk.get(f"{member.member_id}/")
    assert desk.place.calls(5) == []
    assert "reading/" in html
    fragment = desk.client.get(f"{desk.url}{member.member_id}/reading/", headers={"HX-Request": "true"})
    assert b"<html" not in fragment.content
    assert "Just loaded from the service." in said(fragment)
    assert len(desk.place.calls(5)) == 1
    assert "Change rights" in said(fragment)
    assert "rights-says" in fragment.content.decode()


def test_a_member_whom_the_service_lost_is_shown_as_such(desk):
    member = desk.members()[0]
    desk.place.sandbox.api("DELETE", f"/v1/members/{member.member_id}", token=desk.place.service.token)
    assert "The page stays until the next full member list is loaded" in said(
        desk.client.get(f"{desk.url}{member.member_id}/reading/")
    )


def test_values_that_the_portal_does_not_know_are_shown_and_kept(desk):
    member = desk.members()[0]
    with desk.scope():
        Member.objects.filter(pk=member.pk).update(extra={"shoe_size": 44}, membergroup_id="g-unknown")
    assert "shoe_size" in desk.get(f"{member.member_id}/")
    form = desk.get(f"{member.member_id}/edit/")
    assert "g-unknown (unknown)" in form
    desk.send(f"{member.member_id}/edit/", member_code="K1")
    assert desk.intent().body == {"member_code": "K1"}


def test_an_hour_without_calls_is_said_and_the_page_still_shows_what_is_known(desk):
    member, other = desk.members()[:2]
    desk.client.get(f"{desk.url}{other.member_id}/reading/")
    an_hour_of(1, desk.place.sandbox, desk.place.connection)
    page = said(desk.client.get(f"{desk.url}{member.member_id}/reading/"))
    assert "No API calls left this hour" in page
    answer = desk.send("new/", member_name="Later", membergroup_id=desk.group.membergroup_id)
    assert "/intents/" in answer.redirect_chain[-1][0]
    assert 'data-state="recorded"' in answer.content.decode()
