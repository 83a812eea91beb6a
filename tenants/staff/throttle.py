"""Limits on password guessing. Wrong passwords count, right ones do not, and no one is blocked by others.

There are three counts:

- one account from one client address: slows one guesser, but no other person who signs in to that account;
- one account from all addresses together: for many guessers;
- one address for all accounts together: for one guesser who tries many accounts.

A browser that has signed in to the account before is only counted alone. So no one can lock a person out by guessing,
from behind the same proxy or from anywhere.

Such a browser has a cookie with an ID for each account that signed in there. The ID stays the same when the cookie is
renewed, also for other accounts: the browser's guesses at that account are counted by it.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from tenants.client_addresses import network_of
from tenants.models import User

COOKIE = settings.KNOWN_BROWSER_COOKIE_NAME
_SALT = "tenants.known-browser.2"
_RETAIN_SECONDS = 180 * 24 * 3600
# As many people as share a browser at a desk.
_MAX_ACCOUNTS = 5


@dataclass(frozen=True)
class SignInLimit:
    """A limit: `maximum` attempts within `seconds`, counted under a key."""

    key: str
    maximum: int
    seconds: float

    def count_one(self) -> bool:
        """Count one attempt and return whether it is within the limit."""
        count: int = cache.count(self.key, self.seconds)  # type: ignore[attr-defined]  # PostgresCache.count
        return count <= self.maximum

    def uncount(self) -> None:
        with contextlib.suppress(ValueError):  # the count has expired
            cache.decr(self.key)

    def clear(self) -> None:
        cache.delete(self.key)


def limits_for(request: HttpRequest, email: str) -> list[SignInLimit]:
    """Return the limits that a sign-in as `email` by this browser counts against."""
    email = email.strip().lower()
    account = hashlib.sha256(email.encode()).hexdigest()[:32]
    browser = _browser_id(request, email)
    if browser:
        return [SignInLimit(f"sign-in:known:{account}:{browser}", *settings.SIGN_IN_LIMITS["account and address"])]
    network = network_of(request.META["REMOTE_ADDR"])
    return [
        SignInLimit(f"sign-in:both:{account}:{network}", *settings.SIGN_IN_LIMITS["account and address"]),
        SignInLimit(f"sign-in:account:{account}", *settings.SIGN_IN_LIMITS["account"]),
        SignInLimit(f"sign-in:address:{network}", *settings.SIGN_IN_LIMITS["address"]),
    ]


def is_known_browser(request: HttpRequest, user: User) -> bool:
    """Return whether the account signed in with this browser before, also with an earlier password."""
    return str(user.pk) in _known_accounts(request)


def remember_browser(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Mark this browser as one that has signed in to the account, for half a year after the last time."""
    known = _known_accounts(request)
    _sign, browser = known.pop(str(user.pk), ("", secrets.token_hex(8)))
    proofs = dict([(str(user.pk), (_proof_of(user), browser)), *known.items()][:_MAX_ACCOUNTS])
    response.set_cookie(
        COOKIE,
        signing.dumps(proofs, salt=_SALT, compress=True),
        max_age=_RETAIN_SECONDS,
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
        path="/accounts/",
    )


def _browser_id(request: HttpRequest, email: str) -> str:
    """Return this browser's ID for the account, if it signed in to it before with the current password."""
    known = _known_accounts(request)
    user = User.objects.filter(email=email, is_active=True).first() if known else None
    if user is None:
        return ""
    sign, browser = known.get(str(user.pk), ("", ""))
    return browser if constant_time_compare(sign, _proof_of(user)) else ""


def _known_accounts(request: HttpRequest) -> dict[str, tuple[str, str]]:
    """Return the accounts that signed in with this browser: a proof of the password and the browser's ID for each."""
    try:
        found = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=_RETAIN_SECONDS)
    except signing.BadSignature:
        return {}
    return {pk: (sign, browser) for pk, (sign, browser) in found.items()}


def _proof_of(user: User) -> str:
    """Return the account's proof in the cookie.

    It changes with the password, so that a lost browser is forgotten too.
    """
    return user.get_session_auth_hash()[:32]
