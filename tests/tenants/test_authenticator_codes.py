"""Codes of an authenticator app: valid one step before and after, each once, however the digits are typed."""

from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth
from django.core.cache import cache
from django.test import Client

from tests.support.places import PASSWORD, signed_in

SIGN_IN, CONFIRM, ENROL = "/accounts/2fa/authenticate/", "/accounts/2fa/reauthenticate/", "/accounts/2fa/totp/activate/"
USED = "This code was already used. Enter a new one."
NOON = 1_900_000_800 - 1_900_000_800 % 30
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


class Clock(SimpleNamespace):
    """The time by which codes are checked."""

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock(now=NOON + 1)
    monkeypatch.setattr(auth, "time", clock)
    return clock


@pytest.fixture
def owner(two):
    auth.TOTP.activate(two.owner_a, SECRET)
    return two.owner_a


def code_at(seconds, secret=SECRET):
    return auth.format_hotp_value(auth.hotp_value(secret, seconds // 30))


def half_in(user):
    """Return a browser that has entered the password and must enter the code next."""
    browser = Client()
    browser.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    return browser


def answer(browser, page, code):
    """Return "in" when the code is accepted, else the page's error."""
    found = browser.post(page, {"code": code})
    if found.status_code == 302:
        return "in"
    text = found.content.decode()
    return USED if USED in text else "Incorrect code." if "Incorrect code." in text else text


def at_sign_in(user, code):
    return answer(half_in(user), SIGN_IN, code)


def when_confirming(user, code):
    return answer(signed_in(user), CONFIRM, code)


@pytest.mark.parametrize("asked", [at_sign_in, when_confirming])
@pytest.mark.parametrize(("seconds", "counts"), [(-60, False), (-30, True), (0, True), (30, True), (60, False)])
def test_the_step_before_and_the_step_after_count(owner, clock, asked, seconds, counts):
    assert asked(owner, code_at(clock.now + seconds)) == ("in" if counts else "Incorrect code.")


@pytest.mark.parametrize(("seconds", "counts"), [(-60, False), (-30, True), (0, True), (30, True), (60, False)])
def test_so_they_do_when_an_app_is_set_up(two, clock, seconds, counts):
    browser = signed_in(two.owner_a)
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    browser.get(ENROL)
    secret = browser.session[auth.SECRET_SESSION_KEY]
    assert answer(browser, ENROL, code_at(clock.now + seconds, secret)) == ("in" if counts else "Incorrect code.")
    assert Authenticator.objects.exists() == counts


@pytest.mark.parametrize("first", [at_sign_in, when_confirming])
@pytest.mark.parametrize("second", [at_sign_in, when_confirming])
def test_each_counts_once_and_says_so(owner, clock, first, second):
    code = code_at(clock.now + 30)
    assert first(owner, code) == "in"
    assert second(owner, code) == USED
    # allauth forgets a used code after 30 seconds: this one is still valid by its time, and must be refused.
    key = auth.TOTP(Authenticator(user=owner))._get_used_cache_key(code)
    clock.now += 59
    assert cache.get(key)
    assert second(owner, code) == USED


def test_a_used_code_is_remembered_for_three_steps(owner, clock, monkeypatch):
    kept = []
    monkeypatch.setattr(cache, "touch", lambda _key, seconds: kept.append(seconds))
    assert at_sign_in(owner, code_at(clock.now)) == "in"
    assert kept == [90]


def test_a_used_recovery_code_says_so(owner, clock):
    code = RecoveryCodes.activate(owner).get_unused_codes()[0]
    assert at_sign_in(owner, code) == "in"
    assert at_sign_in(owner, code) == USED


def in_full_width(code):
    return "".join(chr(ord(digit) + 0xFEE0) for digit in code)


TYPED = {
    "full width": in_full_width,
    "as the app shows it": lambda code: f"{code[:3]} {code[3:]}",
    "pasted with a line break": lambda code: f" {code}\n",
    "full width with a wide space": lambda code: in_full_width(code[:3]) + "\u3000" + in_full_width(code[3:]),
    "pasted with invisible characters": lambda code: f"\u200b{code[:3]}\u00a0{code[3:]}\u2060",
}


@pytest.mark.parametrize("typed", TYPED.values(), ids=TYPED)
@pytest.mark.parametrize("asked", [at_sign_in, when_confirming])
def test_digits_are_read_however_they_are_typed(owner, clock, asked, typed):
    plain = code_at(clock.now)
    assert asked(owner, typed(plain)) == "in"
    assert asked(owner, plain) == USED


@pytest.mark.parametrize("typed", TYPED.values(), ids=TYPED)
def test_also_when_an_app_is_set_up(two, clock, typed):
    browser = signed_in(two.owner_a)
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    browser.get(ENROL)
    assert answer(browser, ENROL, typed(code_at(clock.now, browser.session[auth.SECRET_SESSION_KEY]))) == "in"


def test_wrong_codes_are_counted_as_before(owner, clock):
    answers = [at_sign_in(owner, "000000") for _ in range(6)]
    assert answers[:5] == ["Incorrect code."] * 5
    assert "Too many" in unquote(answers[5])
    assert "Too many" in at_sign_in(owner, code_at(clock.now))
