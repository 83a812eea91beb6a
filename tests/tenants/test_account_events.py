"""Account events are recorded, logged, and emailed to the person where necessary."""

import json
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    SECRET_SESSION_KEY,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from portal.base.timers.clock import ClockTime
from portal.domain.notifications import account_mails
from tenants.models import AccountEvent, AccountMail, Staff, SupportSession
from tenants.scope import tenant_scope
from tenants.staff.adapter import MFAAdapter
from tests.support.places import PASSWORD, signed_in
from tests.support.rounds import round_of

OTHER = "tiny violet harbour 88"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


# What a browser may send in place of a passkey's answer.
NO_PASSKEYS = (
    '{"id": "x"}',
    '{"id": 1, "rawId": [], "response": null, "type": "public-key"}',
    (
        '{"id": "eA", "rawId": "eA", "response": {"clientDataJSON": "eA", "authenticatorData": "eA", "signature": "eA",'
        ' "attestationObject": "eA", "userHandle": "eA"}, "type": "public-key"}'
    ),
    "[[1]]",
    '"x"',
    "1",
)


@pytest.fixture
def person(two):
    return two.owner_a


@pytest.fixture
def committed(django_capture_on_commit_callbacks):
    """Return `with committed():`, which runs what waits for the commit of the request's transaction."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


def sign_in(person, password=PASSWORD, browser=None):
    browser = browser or Client(headers={"User-Agent": FIREFOX})
    browser.post("/accounts/login/", {"login": getattr(person, "email", person), "password": password})
    return browser


def written(**wanted):
    """Return the recorded events, oldest first: kind, method, whether it succeeded."""
    rows = AccountEvent.objects.filter(**wanted).order_by("pk")
    return [(row.kind, row.method, row.success) for row in rows]


def told(mailbox):
    """Send the waiting emails, and return their subjects."""
    account_mails.send_due()
    return [each["Subject"].strip() for each in mailbox.mails]


def code_of(secret):
    return format_hotp_value(hotp_value(secret, next(yield_hotp_counters_from_time())))


def with_app(person):
    """Give a person an authenticator app; return its secret."""
    secret = generate_totp_secret()
    Authenticator.objects.create(user=person, type="totp", data={"secret": MFAAdapter().encrypt(secret)})
    return secret


class TestSigningIn:
    def test_right_and_wrong_passwords_and_signing_out_are_written_down(self, person, caplog):
        sign_in(person, "wrong")
        sign_in(person).post("/accounts/logout/")
        assert written(user=person) == [
            ("sign_in", "password", False),
            ("sign_in", "password", True),
            ("sign_out", "", True),
        ]
        row = AccountEvent.objects.first()
        assert (row.address, row.browser) == ("127.0.0.1", "Firefox 140, Linux")
        assert caplog.text.count("'account_event'") == 3
        assert person.email not in caplog.text
        assert "wrong" not in caplog.text

    def test_an_address_that_nobody_has_is_written_down_without_it(self, two, caplog):
        sign_in("nobody@example.test", "wrong")
        assert written() == [("sign_in", "password", False)]
        assert "nobody@example.test" not in json.dumps(list(AccountEvent.objects.values()), default=str) + caplog.text

    def test_an_account_that_is_switched_off_is_written_down(self, person):
        person.is_active = False
        person.save()
        sign_in(person)
        assert written(user=person) == [("sign_in", "", False)]

    def test_whoever_is_refused_by_a_limit_is_written_down_once(self, person):
        for _ in range(9):
            sign_in(person, "wrong")
        assert written(user=person) == [("sign_in", "password", False)] * 5 + [("throttled", "", False)]

    def test_the_second_factor_is_written_down_when_it_is_wrong_right_or_tried_too_often(self, person):
        secret = with_app(person)
        browser = sign_in(person)
        assert written() == [], "a password alone is no sign-in"
        browser.post("/accounts/2fa/authenticate/", {"code": "000000"})
        browser.post("/accounts/2fa/authenticate/", {"code": code_of(secret)})
        assert written(user=person) == [("sign_in", "totp", False), ("sign_in", "totp", True)]
        browser = sign_in(person)
        for _ in range(8):
            browser.post("/accounts/2fa/authenticate/", {"code": "000000"})
        assert written(user=person)[2:] == [("sign_in", "totp", False)] * 5 + [("throttled", "", False)]

    @pytest.mark.parametrize("sent", NO_PASSKEYS)
    def test_a_passkey_that_is_none_is_refused_and_written_down(self, two, sent):
        assert Client().post("/accounts/2fa/webauthn/login/", {"credential": sent})["Location"] == "/accounts/login/"
        assert written(user=None) == [("sign_in", "webauthn", False)]

    def test_a_sign_in_from_a_new_browser_is_told_but_not_the_first_and_not_from_a_known_one(self, person, mailbox):
        browser = sign_in(person)
        browser.post("/accounts/logout/")
        sign_in(person, browser=browser)
        assert told(mailbox) == []
        sign_in(person)
        assert told(mailbox) == ["Sign-in from a new browser"]
        text = mailbox.mails[0].get_content()
        assert "Browser: Firefox 140, Linux" in text
        assert "Address: 127.0.0.1" in text
        assert "/accounts/password/reset/" in text

    def test_it_is_told_in_the_persons_language(self, person, mailbox):
        person.language = "ja"
        person.save()
        sign_in(person)
        sign_in(person)
        assert told(mailbox) == ["新しいブラウザーからのサインイン"]


class TestConfirmingWhoIsThere:
    def test_proof_given_and_failed_is_written_down(self, person):
        secret = with_app(person)
        browser = signed_in(person)
        browser.post("/accounts/reauthenticate/", {"password": "wrong"})
        browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
        browser.post("/accounts/2fa/reauthenticate/", {"code": "000000"})
        browser.post("/accounts/2fa/reauthenticate/", {"code": code_of(secret)})
        assert written(user=person) == [
            ("proof", "password", False),
            ("proof", "password", True),
            ("proof", "totp", False),
            ("proof", "totp", True),
        ]

    @pytest.mark.parametrize("sent", NO_PASSKEYS)
    def test_a_passkey_that_is_none_is_refused_and_written_down(self, person, sent):
        Authenticator.objects.create(user=person, type="webauthn", data={})
        browser = signed_in(person)
        assert browser.post("/accounts/2fa/webauthn/reauthenticate/", {"credential": sent}).status_code == 302
        assert written(user=person) == [("proof", "webauthn", False)]

    def test_a_limit_of_the_page_itself_is_written_down(self, person):
        browser = signed_in(person)
        for _ in range(12):
            answer = browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
        assert answer.status_code == 429
        assert written(user=person)[-2:] == [("proof", "password", True), ("throttled", "", False)]


class TestPasswords:
    def test_a_changed_password_is_written_down_and_told(self, person, mailbox):
        new = {"oldpassword": PASSWORD, "password1": OTHER, "password2": OTHER}
        signed_in(person).post("/accounts/password/change/", new)
        assert written(user=person) == [("password_changed", "", True)]
        assert told(mailbox) == ["Your password was changed"]

    def test_a_wrong_old_password_is_written_down(self, person, mailbox):
        new = {"oldpassword": "wrong", "password1": OTHER, "password2": OTHER}
        signed_in(person).post("/accounts/password/change/", new)
        assert written(user=person) == [("proof", "password", False)]
        assert told(mailbox) == []

    def test_a_link_that_was_asked_for_and_used_is_written_down_and_told(self, person, mailbox):
        Client().post("/accounts/password/reset/", {"email": person.email})
        account_mails.send_due()
        address = mailbox.mails[0].get_content().split("http://127.0.0.1:8000")[1].split()[0]
        browser = Client()
        page = browser.get(address, follow=True)
        browser.post(page.redirect_chain[-1][0], {"password1": OTHER, "password2": OTHER})
        assert written(user=person) == [("reset_asked", "", True), ("password_reset", "", True)]
        assert told(mailbox)[1:] == ["Your password was changed"]

    def test_asking_for_an_unknown_address_does_the_same_but_for_the_mail(self, person):
        """Check that timing reveals nothing: a known address has one query and one row more, in the same commit."""
        EmailAddress.objects.create(user=person, email=person.email, verified=True, primary=True)
        with CaptureQueriesContext(connection) as known:
            Client().post("/accounts/password/reset/", {"email": person.email})
        with CaptureQueriesContext(connection) as unknown:
            Client().post("/accounts/password/reset/", {"email": "nobody@example.test"})
        assert written() == [("reset_asked", "", True), ("reset_asked", "", False)]
        assert AccountMail.objects.count() == 1
        assert len(known) - len(unknown) == 2


class TestSecondFactors:
    def test_one_that_is_added_and_removed_is_written_down_and_told(self, person, mailbox, committed):
        browser = signed_in(person)
        browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
        browser.get("/accounts/2fa/totp/activate/")
        with committed():
            browser.post("/accounts/2fa/totp/activate/", {"code": code_of(browser.session[SECRET_SESSION_KEY])})
        assert sorted(written(user=person)[1:]) == [("codes_made", "", True), ("factor_added", "totp", True)]
        with committed():
            browser.post("/accounts/2fa/recovery-codes/generate/")
        browser.post("/accounts/2fa/totp/deactivate/")
        assert sorted(written(user=person)[3:]) == [
            ("codes_made", "", True),
            ("factor_removed", "recovery_codes", True),
            ("factor_removed", "totp", True),
        ]
        assert told(mailbox) == ["Sign-in method added", "New recovery codes", "Sign-in method removed"]

    @pytest.mark.parametrize("sent", NO_PASSKEYS)
    def test_a_passkey_that_is_none_is_not_added(self, person, sent):
        browser = signed_in(person)
        browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
        assert browser.post("/accounts/2fa/webauthn/add/", {"name": "x", "credential": sent}).status_code == 422
        assert not Authenticator.objects.exists()


class TestSessions:
    def test_ending_the_others_asks_who_is_there_and_is_written_down_and_told(self, person, mailbox):
        sign_in(person)
        browser = sign_in(person)
        age(browser)
        answer = browser.post("/accounts/sessions/", headers={"Referer": "http://testserver/accounts/sessions/"})
        assert answer["Location"] == "/accounts/reauthenticate/?next=%2Faccounts%2Fsessions%2F"
        assert Session.objects.count() == 2
        browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
        assert browser.post("/accounts/sessions/")["Location"] == "/accounts/sessions/"
        assert Session.objects.count() == 1
        assert written(user=person)[-1] == ("sessions_ended", "", True)
        assert told(mailbox) == ["Sign-in from a new browser", "Signed out everywhere else"]

    def test_looking_at_them_asks_nothing(self, person):
        browser = sign_in(person)
        age(browser)
        assert browser.get("/accounts/sessions/").status_code == 200


def age(browser):
    """Move the sign-in an hour into the past."""
    session = browser.session
    for step in session["account_authentication_methods"]:
        step["at"] -= 3600
    session["account_authentication_methods"] = session["account_authentication_methods"]
    session.save()


class TestAPersonsOwnHistory:
    def test_shows_what_happened_newest_first_and_nothing_of_others(self, two, person):
        sign_in(two.owner_b, "wrong")
        sign_in(person, "wrong")
        browser = sign_in(person)
        page = browser.get("/accounts/history/").content.decode()
        rows = page.split("<tbody>")[1].split("</tbody>")[0].split("<tr>")[1:]
        assert len(rows) == 2
        assert "Failed" not in rows[0]
        assert "Failed" in rows[1]
        assert "Firefox 140, Linux" in rows[1]
        assert "127.0.0.1" in rows[1]

    def test_is_shown_a_page_at_a_time(self, person, django_assert_max_num_queries):
        AccountEvent.objects.bulk_create(
            AccountEvent(user=person, kind="sign_in", browser=f"Browser {number:03}") for number in range(70)
        )
        browser = signed_in(person)
        first = browser.get("/accounts/history/").content.decode()
        assert ("Browser 069" in first, "Browser 020" in first, "Browser 019" in first) == (True, True, False)
        older = first.split('class="pager"><a class="btn" href="')[1].split('"')[0]
        second = browser.get(f"/accounts/history/{older}").content.decode()
        assert ("Browser 020" in second, "Browser 019" in second, "Browser 000" in second) == (False, True, True)
        assert "Older entries" not in second
        assert browser.get("/accounts/history/?before=x").content.decode().count("Browser 0") == 50

    def test_is_for_whoever_is_signed_in(self, two):
        assert Client().get("/accounts/history/")["Location"].startswith("/accounts/login/")


class TestTheStaffsHistory:
    def page(self, browser, tenant="a", query=""):
        return browser.get(f"/t/{tenant}/staff/sign-ins/{query}")

    def test_shows_an_owner_the_staff_of_this_tenant_alone(self, two, person):
        guard = two.staff("guard")
        sign_in(guard, "wrong")
        sign_in(two.owner_b, "wrong")
        sign_in("nobody@example.test", "wrong")
        text = self.page(signed_in(person)).content.decode()
        rows = text.split("<tbody>")[1].split("</tbody>")[0]
        assert rows.count("<tr>") == 1
        assert "guard" in rows

    def test_is_narrowed_to_a_person_and_to_what_happened(self, two, person):
        guard = two.staff("guard")
        sign_in(guard, "wrong")
        sign_in(person, "wrong")
        sign_in(person).post("/accounts/logout/")
        owner = signed_in(person)
        rows = lambda query: self.page(owner, query=query).content.decode().count("<tr>") - 1  # noqa: E731
        assert rows("") == 4
        assert rows(f"?person={guard.pk}") == 1
        assert rows(f"?person={person.pk}&kind=sign_in") == 2
        assert rows("?kind=sign_out") == 1
        assert rows("?kind=nothing&person=-1") == 4

    def test_says_nothing_of_whoever_left_or_of_the_time_before_they_came(self, two, person):
        guard, gone = two.staff("guard"), two.staff("auditor")
        sign_in(guard, "wrong")
        sign_in(gone, "wrong")
        with tenant_scope(two.a):
            Staff.objects.filter(user=gone).update(is_active=False)
            Staff.objects.filter(user=guard).update(since=ClockTime() + timedelta(hours=1))
        assert "No entries yet" in self.page(signed_in(person)).content.decode()

    def test_says_nothing_of_platform_staff(self, two, person):
        support = two.platform()
        with tenant_scope(two.a):
            SupportSession.objects.create(user=support, reason="x", expires_at=ClockTime() + timedelta(hours=1))
            Staff.objects.create(user=support, role="guard")
        sign_in(support, "wrong")
        assert "No entries yet" in self.page(signed_in(person)).content.decode()

    @pytest.mark.parametrize("role", ["facility manager", "auditor", "guard", "receptionist"])
    def test_is_for_whoever_manages_staff(self, two, role):
        assert self.page(signed_in(two.staff(role))).status_code == 403

    def test_of_another_tenant_is_not_there(self, two, person):
        assert self.page(signed_in(person), tenant="b").status_code == 404

    def test_asks_the_database_no_more_for_many_rows(self, two, person):
        owner = signed_in(person)
        guard = two.staff("guard")
        self.page(owner)
        counts = []
        for number in (1, 40):
            AccountEvent.objects.bulk_create(AccountEvent(user=guard, kind="sign_in") for _ in range(number))
            with CaptureQueriesContext(connection) as asked:
                self.page(owner)
            counts.append(len(asked))
        assert counts[0] == counts[1]


def test_what_is_older_than_the_log_is_forgotten(person):
    sign_in(person, "wrong")
    sign_in(person)
    AccountEvent.objects.filter(success=False).update(at=ClockTime() - timedelta(days=401))
    AccountEvent.objects.filter(success=True).update(at=ClockTime() - timedelta(days=399))
    round_of("account_events")
    assert written() == [("sign_in", "password", True)]
