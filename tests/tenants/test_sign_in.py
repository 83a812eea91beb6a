"""Signing in behind proxies: where a request comes from, and who has to wait after wrong guesses."""

import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    SECRET_SESSION_KEY,
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from allauth.usersessions.models import UserSession
from django.test import Client, RequestFactory

from portal.domain.notifications import account_mails
from tenants.client_addresses import UNKNOWN, client_address, network_of
from tenants.models import AccountMail, AuditEntry
from tenants.scope import tenant_scope
from tenants.staff import throttle
from tests.support.places import PASSWORD, signed_in

OFFICE, HOTEL, CAFE = "198.51.100.7", "203.0.113.9", "2001:db8:7:1::5"
LOCKED = "Too many wrong attempts. Wait five minutes, or use a passkey."


@pytest.fixture
def one_proxy(settings):
    settings.TRUSTED_PROXIES = 1


def tries(browser, email, password, address=OFFICE):
    """Try to sign in once. Return True if it succeeded, else the page's message."""
    values = {"login": email, "password": password}
    answer = browser.post("/accounts/login/", values, headers={"X-Forwarded-For": address})
    return True if answer.status_code == 302 else answer.content.decode()


def guess(person, times, address=OFFICE):
    for _ in range(times):
        said = tries(Client(), person.email, "wrong", address)
    return said


# Where a request comes from


@pytest.mark.parametrize(
    ("told", "proxies", "address"),
    [
        ("", 0, "192.0.2.1"),
        (OFFICE, 0, "192.0.2.1"),
        ("", 1, "192.0.2.1"),
        (OFFICE, 1, OFFICE),
        (f"6.6.6.6, {OFFICE}", 1, OFFICE),
        (f"6.6.6.6, {OFFICE}, 10.0.0.2", 2, OFFICE),
        ("6.6.6.6", 2, "192.0.2.1"),
        ("6.6.6.6, nonsense", 1, "192.0.2.1"),
        (f"{OFFICE}:51234", 1, OFFICE),
        (f"[{CAFE}]:51234", 1, CAFE),
        (f"::ffff:{OFFICE}", 1, OFFICE),
        ("fe80::1%eth0", 1, "fe80::1"),
    ],
)
def test_the_clients_address_is_what_the_outermost_trusted_proxy_saw(told, proxies, address):
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=told)
    assert client_address(request, proxies) == address


def test_over_a_socket_of_the_machine_there_is_no_address():
    assert client_address(RequestFactory().get("/", REMOTE_ADDR=""), 0) == UNKNOWN


def test_one_client_has_one_ipv4_address_or_one_ipv6_network():
    assert network_of(OFFICE) == OFFICE
    assert network_of("2001:db8:7:1::5") == network_of("2001:db8:7:1:ffff::1") != network_of("2001:db8:7:2::5")


def test_the_audit_log_the_list_of_sessions_and_the_logs_tell_the_clients_address(two, one_proxy, caplog):
    browser, there = Client(), {"X-Forwarded-For": f"6.6.6.6, {OFFICE}"}
    browser.post("/accounts/login/", {"login": two.owner_a.email, "password": PASSWORD}, headers=there)
    browser.post("/t/a/staff/invite/", {"email": "x@example.test", "role": "guard"}, headers=there)
    browser.get("/t/a/nowhere/", headers=there | {"X-Real-IP": "6.6.6.6", "CF-Connecting-IP": "6.6.6.6"})
    with tenant_scope(two.a):
        entry = AuditEntry.objects.get(action="staff.invite")
        assert entry.address == OFFICE
    assert OFFICE in browser.get(f"/t/a/audit/{entry.pk}/").content.decode()
    assert UserSession.objects.get().ip == OFFICE
    assert "6.6.6.6" not in caplog.text


# Who waits for other people's guesses


def test_a_guesser_is_slowed_and_nobody_else(two, one_proxy):
    assert LOCKED not in guess(two.owner_a, 5)
    assert LOCKED in guess(two.owner_a, 1)
    assert LOCKED in tries(Client(), two.owner_a.email, PASSWORD), "the sixth is not even looked at"
    assert tries(Client(), two.owner_a.email, PASSWORD, HOTEL) is True
    assert tries(Client(), two.owner_b.email, PASSWORD) is True


def test_the_same_guesser_takes_another_address_of_the_same_network(two, one_proxy):
    guess(two.owner_a, 5, CAFE)
    assert LOCKED in tries(Client(), two.owner_a.email, PASSWORD, "2001:db8:7:1:abcd::1")


def test_many_guessers_at_one_account_do_not_keep_its_own_browser_out(two, one_proxy, settings):
    settings.SIGN_IN_LIMITS = {**settings.SIGN_IN_LIMITS, "account": (6, 3600)}
    own = Client()
    assert tries(own, two.owner_a.email, PASSWORD, HOTEL) is True
    own.post("/accounts/logout/")
    for number in range(7):
        said = guess(two.owner_a, 1, f"192.0.2.{number}")
    assert LOCKED in said
    assert LOCKED in tries(Client(), two.owner_a.email, PASSWORD, "192.0.2.100"), "an unknown browser waits"
    assert tries(own, two.owner_a.email, PASSWORD, "192.0.2.100") is True


def test_no_number_of_addresses_guesses_one_account_more_than_fifty_times_an_hour(two, one_proxy):
    request = RequestFactory().post("/", REMOTE_ADDR=OFFICE)
    (counted,) = [
        each for each in throttle.limits_for(request, two.owner_a.email) if each.key.startswith("sign-in:account:")
    ]
    assert all(counted.count_one() for _ in range(49)), "as 49 wrong passwords from 49 addresses count"
    assert LOCKED not in guess(two.owner_a, 1, HOTEL)
    assert LOCKED in tries(Client(), two.owner_a.email, PASSWORD, CAFE), "the right one is not even looked at"


def test_one_guesser_at_many_accounts_keeps_only_unknown_browsers_there_waiting(two, one_proxy, settings):
    settings.SIGN_IN_LIMITS = {**settings.SIGN_IN_LIMITS, "address": (8, 60)}
    own, person = Client(), two.staff("auditor")
    assert tries(own, person.email, PASSWORD) is True
    own.post("/accounts/logout/")
    for number in range(9):
        said = tries(Client(), f"made-up-{number}@example.test", "wrong")
    assert LOCKED in said
    assert tries(own, person.email, PASSWORD) is True
    assert tries(Client(), person.email, PASSWORD, HOTEL) is True


def test_a_known_browser_is_no_licence_to_guess(two, one_proxy):
    own = Client()
    tries(own, two.owner_a.email, PASSWORD)
    own.post("/accounts/logout/")
    for _ in range(6):
        said = tries(own, two.owner_a.email, "wrong")
    assert LOCKED in said
    assert LOCKED in tries(own, two.owner_a.email, PASSWORD)


class TestAGuesserWhoSignsInMeanwhile:
    """A person guesses a colleague's password, and signs in to another account in between."""

    @pytest.fixture
    def guesser(self, two, one_proxy):
        browser = Client()
        assert tries(browser, two.owner_b.email, PASSWORD) is True
        return browser

    def looked_at(self, browser, person, own):
        """Return how many of 30 guesses were checked: the others are refused with any password."""
        count = 0
        for _ in range(6):
            count += sum(LOCKED not in tries(browser, person.email, "wrong") for _ in range(5))
            assert tries(browser, own.email, PASSWORD) is True
            browser.post("/accounts/logout/")
        return count

    def test_at_an_account_that_never_signed_in_here(self, two, guesser):
        guesser.post("/accounts/logout/")
        assert self.looked_at(guesser, two.owner_a, two.owner_b) == 5

    def test_at_an_account_that_once_signed_in_here(self, two, guesser):
        guesser.post("/accounts/logout/")
        assert tries(guesser, two.owner_a.email, PASSWORD) is True
        guesser.post("/accounts/logout/")
        assert self.looked_at(guesser, two.owner_a, two.owner_b) == 5

    def test_with_old_copies_of_the_cookie(self, two, guesser):
        guesser.post("/accounts/logout/")
        copies = []
        for own in (two.owner_a, two.owner_b, two.owner_a, two.owner_b):
            assert tries(guesser, own.email, PASSWORD) is True
            copies.append(guesser.cookies[throttle.COOKIE].value)
            guesser.post("/accounts/logout/")
        count = 0
        for copy in copies * 2:
            guesser.cookies[throttle.COOKIE] = copy
            count += sum(LOCKED not in tries(guesser, two.owner_a.email, "wrong") for _ in range(5))
        assert len(set(copies)) > 1
        assert count == 5

    def test_keeps_nobody_out_of_another_browser(self, two, guesser):
        own = Client()
        assert tries(own, two.owner_a.email, PASSWORD) is True
        own.post("/accounts/logout/")
        guesser.post("/accounts/logout/")
        assert tries(guesser, two.owner_a.email, PASSWORD) is True
        guesser.post("/accounts/logout/")
        self.looked_at(guesser, two.owner_a, two.owner_b)
        assert tries(own, two.owner_a.email, PASSWORD) is True


def test_what_makes_a_browser_known_is_of_one_account_and_one_password(two, one_proxy, settings):
    settings.SIGN_IN_LIMITS = {**settings.SIGN_IN_LIMITS, "account": (2, 3600)}
    own = Client()
    tries(own, two.owner_a.email, PASSWORD)
    own.post("/accounts/logout/")
    guess(two.owner_b, 3, HOTEL)
    assert LOCKED in tries(own, two.owner_b.email, PASSWORD), "known for another account"
    two.owner_a.set_password("tiny violet harbour 88")
    two.owner_a.save()
    guess(two.owner_a, 3, HOTEL)
    assert LOCKED in tries(own, two.owner_a.email, "tiny violet harbour 88"), "known with another password"


def test_right_passwords_count_for_nothing(two, one_proxy):
    for _ in range(12):
        assert tries(Client(), two.owner_a.email, PASSWORD) is True


def test_confirming_who_is_there_is_slowed_too(two):
    browser = signed_in(two.owner_a)
    for _ in range(6):
        page = browser.post("/accounts/reauthenticate/", {"password": "wrong"})
    assert LOCKED in page.content.decode()


def test_guessing_the_old_password_of_a_new_one_counts_with_all_other_guesses(two):
    browser = signed_in(two.owner_a)
    for _ in range(5):
        new = {"oldpassword": "wrong", "password1": "tiny violet harbour 88", "password2": "tiny violet harbour 88"}
        assert LOCKED not in browser.post("/accounts/password/change/", new).content.decode()
    assert LOCKED in browser.post("/accounts/reauthenticate/", {"password": PASSWORD}).content.decode()
    two.owner_a.refresh_from_db()
    assert two.owner_a.check_password(PASSWORD)


def test_asking_for_mails_without_end_ends_at_a_page_of_ours(two):
    answers = [Client().post("/accounts/password/reset/", {"email": f"{n}@example.test"}) for n in range(21)]
    assert answers[-1].status_code == 429
    assert "Wait a minute, then try again." in answers[-1].content.decode()
    assert 'id="content"' in answers[-1].content.decode()


# Forgotten passwords, second factors


def forgotten(email, **more):
    """Request a new password for this address, and send the waiting emails."""
    answer = Client().post("/accounts/password/reset/", {"email": email}, **more)
    account_mails.send_due()
    return answer


def test_a_reset_mail_uses_the_configured_address_and_our_words(two, mailbox, settings):
    settings.PORTAL_URL = "https://portal.example.test"
    forgotten(two.owner_a.email.upper(), headers={"Host": "localhost"})
    (sent,) = mailbox.mails
    text = sent.get_content()
    assert (sent["To"], sent["Subject"]) == (two.owner_a.email, "Set a new password")
    assert "example.com" not in text
    address = re.search(r"https://portal\.example\.test(/accounts/password/reset/key/\S+)", text)[1]
    browser = Client()
    page = browser.get(address, follow=True)
    new = {"password1": "tiny violet harbour 88", "password2": "tiny violet harbour 88"}
    browser.post(page.redirect_chain[-1][0], new)
    assert tries(Client(), two.owner_a.email, new["password1"]) is True


def test_a_reset_mail_is_in_the_persons_language_or_in_that_of_the_page(two, mailbox):
    two.owner_a.language = "ja"
    two.owner_a.save()
    forgotten(two.owner_a.email)
    forgotten(two.owner_b.email, headers={"Accept-Language": "ja"})
    assert [sent["Subject"] for sent in mailbox.mails] == ["パスワードの再設定"] * 2


@pytest.mark.parametrize("email", ["nobody@example.test", "NOBODY@example.test"])
def test_nobody_who_is_not_known_gets_a_mail(two, mailbox, email):
    known = Client().post("/accounts/password/reset/", {"email": two.owner_a.email}, follow=True)
    unknown = Client().post("/accounts/password/reset/", {"email": email}, follow=True)
    assert known.redirect_chain == unknown.redirect_chain
    account_mails.send_due()
    assert mailbox.to == [two.owner_a.email]


def test_the_page_does_not_speak_to_the_mail_server(two, mailbox):
    """Check this because the time of a slow mail server would reveal which addresses are registered."""
    Client().post("/accounts/password/reset/", {"email": two.owner_a.email})
    assert (mailbox.visits, AccountMail.objects.count()) == (0, 1)


def test_no_page_writes_to_an_address_that_nobody_invited(two, mailbox):
    browser = signed_in(two.owner_a)
    answer = browser.post("/accounts/email/", {"action_add": "", "email": "elsewhere@example.test"})
    account_mails.send_due()
    assert (answer.status_code, mailbox.visits) == (404, 0)


def test_the_code_that_activates_an_app_does_not_sign_in(two):
    browser = signed_in(two.owner_a)
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    browser.get("/accounts/2fa/totp/activate/")
    secret = browser.session[SECRET_SESSION_KEY]
    code = format_hotp_value(hotp_value(secret, next(yield_hotp_counters_from_time())))
    assert browser.post("/accounts/2fa/totp/activate/", {"code": code}).status_code == 302
    assert Authenticator.objects.filter(type="totp").count() == 1
    stranger = Client()
    stranger.post("/accounts/login/", {"login": two.owner_a.email, "password": PASSWORD})
    stranger.post("/accounts/2fa/authenticate/", {"code": code})
    assert stranger.get("/t/a/staff/").status_code == 302
