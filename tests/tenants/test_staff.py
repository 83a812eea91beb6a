"""Inviting, joining, changing roles, leaving; no one can sign up without an invitation."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from portal.domain.notifications import account_mails
from tenants.models import AuditEntry, Invitation, Staff, User
from tenants.scope import across_tenants, tenant_scope
from tenants.staff import actions
from tests.support.places import PASSWORD, signed_in

NEW = {"name": "田中 はな", "password": "tiny violet harbour 88"}


def invite(two, email="new@example.test", role="auditor"):
    answer = signed_in(two.owner_a).post("/t/a/staff/invite/", {"email": email, "role": role})
    assert answer.status_code == 302, answer.content
    return re.search(r"http://\S+(/invitations/\S+)", mail.outbox[-1].body)[1]


def test_an_invitation_lets_a_new_person_in_once(two):
    address = invite(two)
    guest = Client()
    page = guest.get(address)
    assert "Tenant a" in page.content.decode()
    assert page["Referrer-Policy"] == "strict-origin"
    assert guest.post(address, NEW).status_code == 302
    person = User.objects.get(email="new@example.test")
    browser = Client()
    browser.post("/accounts/login/", {"login": person.email, "password": NEW["password"]})
    assert browser.get("/t/a/audit/").status_code == 200
    assert browser.get("/t/b/audit/").status_code == 404
    assert guest.post(address, NEW).status_code == 404
    with tenant_scope(two.a):
        assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == [
            "staff.invite",
            "staff.join",
        ]
        assert address.split("/")[2] not in str(list(Invitation.objects.values()))


SCANNERS = {
    "one that asks for the head": [("head", {})],
    "one that opens it three times": [("get", {})] * 3,
    "one that follows redirects": [("get", {"follow": True}), ("head", {"follow": True})],
    "a preview in a chat": [
        ("get", {"headers": {"user-agent": "Slackbot-LinkExpanding 1.0", "range": "bytes=0-32768"}})
    ],
    "a browser that prefetches": [("get", {"headers": {"sec-purpose": "prefetch"}, "follow": True})],
}


@pytest.mark.parametrize("looks", SCANNERS.values(), ids=SCANNERS)
class TestAScannerOfMails:
    """A program that opens each link of a mail before its reader does, without cookies."""

    def test_uses_no_invitation_up(self, two, looks):
        address = invite(two)
        for method, more in looks:
            assert getattr(Client(), method)(address, **more).status_code == 200
        assert Client().post(address, NEW).status_code == 302
        assert User.objects.filter(email="new@example.test").exists()
        assert Client().get(address).status_code == 404

    def test_uses_no_link_to_a_new_password_up(self, two, mailbox, looks):
        Client().post("/accounts/password/reset/", {"email": two.owner_a.email})
        account_mails.send_due()
        address = re.search(r"http://\S+(/accounts/password/reset/key/\S+)", mailbox.mails[0].get_content())[1]
        for method, more in looks:
            assert getattr(Client(), method)(address, **more).status_code in (200, 302)
        person = Client()
        form = person.get(address, follow=True).redirect_chain[-1][0]
        person.post(form, {"password1": NEW["password"], "password2": NEW["password"]})
        two.owner_a.refresh_from_db()
        assert two.owner_a.check_password(NEW["password"])
        assert "This link is not valid" in Client().get(address, follow=True).content.decode()


def test_a_weak_password_is_refused_beside_its_field(two):
    answer = Client().post(invite(two), {"name": "x", "password": "123"})
    assert answer.status_code == 422
    assert "too short" in answer.content.decode()
    assert not User.objects.filter(email="new@example.test").exists()


def test_expired_revoked_and_replaced_invitations_are_closed(two):
    first = invite(two)
    second = invite(two)
    assert Client().get(first).status_code == 404
    assert Client().get(second).status_code == 200
    with tenant_scope(two.a):
        pk = Invitation.objects.latest("pk").pk
    assert signed_in(two.owner_b).post(f"/t/b/staff/invitations/{pk}/revoke/").status_code == 404
    assert Client().get(second).status_code == 200
    signed_in(two.owner_a).post(f"/t/a/staff/invitations/{pk}/revoke/")
    assert Client().get(second).status_code == 404
    third = invite(two)
    with across_tenants("a test"):
        Invitation.objects_across_tenants.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().post(third, NEW).status_code == 404
    assert Client().get("/invitations/made-up/").status_code == 404


def test_somebody_with_an_account_joins_only_as_that_account(two):
    address = invite(two, two.owner_b.email, "guard")
    assert Client().post(address, NEW).status_code == 422
    assert signed_in(two.owner_a).post(address).status_code == 422
    assert signed_in(two.owner_b).post(address).status_code == 302
    with tenant_scope(two.a):
        assert Staff.objects.get(user=two.owner_b).role == "guard"


class TestAnInvitationInABrowserOfAnotherPerson:
    """An invitation that is opened in a browser in which another person is signed in."""

    def test_asks_which_of_them_is_meant_and_makes_no_account(self, two):
        address = invite(two)
        browser = signed_in(two.owner_b)
        page = browser.get(address).content.decode()
        assert f"You are signed in as {two.owner_b.email}. This invitation is for new@example.test." in page
        assert 'href="/"' in page
        assert 'name="password"' not in page
        answer = browser.post(address, NEW)
        assert (answer.status_code, "Welcome" in answer.content.decode()) == (422, False)
        assert not User.objects.filter(email="new@example.test").exists()

    def test_signs_out_first_and_then_the_invited_person_joins_and_signs_in(self, two):
        address = invite(two)
        browser = signed_in(two.owner_b)
        page = browser.post(address, {"sign_out": "yes"}, follow=True)
        assert page.redirect_chain == [(address, 302)]
        assert 'name="password"' in page.content.decode()
        answer = browser.post(address, NEW)
        assert browser.get(answer["Location"])["Location"].startswith("/accounts/login/")
        browser.post("/accounts/login/", {"login": "new@example.test", "password": NEW["password"]})
        assert browser.get("/t/a/audit/").status_code == 200
        assert browser.get("/t/b/audit/").status_code == 404

    def test_leads_whoever_has_an_account_to_its_own_sign_in(self, two):
        person = two.staff("guard", two.b)
        address = invite(two, person.email, "guard")
        browser = signed_in(two.owner_b)
        assert f"This invitation is for {person.email}." in browser.get(address).content.decode()
        page = browser.post(address, {"sign_out": "yes"}, follow=True).content.decode()
        assert "Sign in first." in page
        assert browser.get("/t/b/audit/").status_code == 302

    def test_stays_open_for_whom_it_is_meant(self, two):
        address = invite(two)
        signed_in(two.owner_b).post(address, NEW)
        assert Client().post(address, NEW).status_code == 302

    def test_signs_nobody_out_by_a_link_alone(self, two):
        browser = signed_in(two.owner_b)
        browser.get(invite(two) + "?sign_out=yes")
        assert browser.get("/t/b/audit/").status_code == 200


def test_a_reset_link_of_another_account_signs_out_before_it_asks_for_a_password(two, mailbox):
    Client().post("/accounts/password/reset/", {"email": two.owner_a.email})
    account_mails.send_due()
    address = re.search(r"http://\S+(/accounts/password/reset/key/\S+)", mailbox.mails[0].get_content())[1]
    browser = signed_in(two.owner_b)
    page = browser.get(address, follow=True)
    assert browser.get("/t/b/audit/").status_code == 302
    new = {"password1": NEW["password"], "password2": NEW["password"]}
    browser.post(page.redirect_chain[-1][0], new)
    two.owner_a.refresh_from_db()
    two.owner_b.refresh_from_db()
    assert (two.owner_a.check_password(NEW["password"]), two.owner_b.check_password(PASSWORD)) == (True, True)
    assert browser.get("/t/a/audit/").status_code == 302


def test_an_invitation_is_accepted_by_the_invited_address_alone(two):
    found = actions.find_open_invitation(invite(two, two.owner_b.email, "owner").split("/")[2])
    guard = two.staff("guard")
    with pytest.raises(actions.StaffError, match="for a different address"):
        actions.accept(invitation=found, user=guard)
    assert staff_row(two, guard).role == "guard"
    with tenant_scope(two.a):
        assert Invitation.objects.get().accepted_at is None


def test_somebody_who_works_here_is_not_invited_again(two):
    answer = signed_in(two.owner_a).post("/t/a/staff/invite/", {"email": two.owner_a.email.upper(), "role": "guard"})
    assert answer.status_code == 422
    assert "already on the staff" in answer.content.decode()


def test_an_invitation_stands_when_the_mail_does_not_go_out(two, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    browser = signed_in(two.owner_a)
    page = browser.post("/t/a/staff/invite/", {"email": "n@example.test", "role": "guard"}, follow=True)
    assert "mail could not be sent" in page.content.decode()


@pytest.mark.parametrize(
    "values", [{"email": "x", "role": "guard"}, {"email": "x@example.test", "role": "support"}, {}]
)
def test_bad_invitations_are_refused(two, values):
    assert signed_in(two.owner_a).post("/t/a/staff/invite/", values).status_code == 422
    assert mail.outbox == []


def staff_row(two, user):
    with tenant_scope(two.a):
        return Staff.objects.get(user=user)


def test_roles_are_changed_and_people_removed(two):
    person = two.staff("guard")
    row, browser, theirs = staff_row(two, person), signed_in(two.owner_a), signed_in(person)
    browser.post(f"/t/a/staff/{row.pk}/role/", {"role": "auditor"})
    assert theirs.get("/t/a/audit/").status_code == 200
    browser.post(f"/t/a/staff/{row.pk}/role/", {"role": "operator"})
    assert staff_row(two, person).role == "auditor"
    browser.post(f"/t/a/staff/{row.pk}/remove/")
    assert theirs.get("/t/a/audit/").status_code == 404
    assert browser.post(f"/t/a/staff/{row.pk}/remove/").status_code == 404


def test_the_last_owner_stays(two):
    row, browser = staff_row(two, two.owner_a), signed_in(two.owner_a)
    for change in (("role", {"role": "guard"}), ("remove", {})):
        page = browser.post(f"/t/a/staff/{row.pk}/{change[0]}/", change[1], follow=True)
        assert (
            "A tenant needs at least one owner. Nothing was changed. First give another person the role “Owner”."
            in page.content.decode()
        )
    assert staff_row(two, two.owner_a).role == "owner"
    assert staff_row(two, two.owner_a).is_active


def test_another_tenants_staff_cannot_be_touched_by_their_number(two):
    with tenant_scope(two.b):
        foreign = Staff.objects.get()
    browser = signed_in(two.owner_a)
    for what in ("role", "remove"):
        assert browser.post(f"/t/a/staff/{foreign.pk}/{what}/", {"role": "guard"}).status_code == 404
    with tenant_scope(two.b):
        assert Staff.objects.get().role == "owner"


def test_nobody_signs_up_by_themselves(two):
    before = User.objects.count()
    page = Client().get("/accounts/signup/")
    assert "invitation" in page.content.decode()
    Client().post("/accounts/signup/", {"email": "x@example.test", "password1": NEW["password"]})
    assert User.objects.count() == before


def test_sign_in_takes_the_address_in_any_case_and_refuses_the_inactive(two):
    browser = Client()
    answer = browser.post("/accounts/login/", {"login": two.owner_a.email.upper(), "password": PASSWORD})
    assert answer.status_code == 302
    User.objects.filter(pk=two.owner_a.pk).update(is_active=False)
    assert browser.get("/t/a/staff/").status_code == 302


@pytest.mark.parametrize(
    "page",
    ["login/", "password/reset/", "signup/", "2fa/", "2fa/totp/activate/", "2fa/webauthn/", "2fa/webauthn/add/",
     "password/change/", "sessions/", "reauthenticate/", "logout/", "2fa/recovery-codes/generate/"],
)  # fmt: skip
def test_every_page_of_sign_in_is_drawn_in_our_frame(two, page):
    browser = Client() if page in {"login/", "password/reset/", "signup/"} else signed_in(two.owner_a)
    answer = browser.get(f"/accounts/{page}", follow=True)
    assert answer.status_code == 200, answer.redirect_chain
    text = answer.content.decode()
    assert 'id="content"' in text
    assert "Menu:" not in text
    assert " style=" not in text
