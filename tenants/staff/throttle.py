"""How often a password may be guessed. Wrong passwords count, right ones do not, and no one pays for others.

Three counts, each with its own reach:

- one account from one client address: slows a guesser, and nobody else who signs in to that account;
- one account from everywhere together, and one address for all accounts together: for many guessers, or one who tries
  many accounts. A browser that has signed in to the account before is in neither: a cookie identifies it, and it is
  counted alone, so that nobody can lock a person out by guessing, from behind the same proxy or from anywhere.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from tenants.addresses import network_of
from tenants.models import User

COOKIE = "known_browser"
_SALT = "tenants.known-browser"
_KEEP = 180 * 24 * 3600
# As many people as share a browser at a desk.
_ACCOUNTS = 5


@dataclass(frozen=True)
class Limit:
    """At most so many within so many seconds, counted under a key."""

    key: str
    most: int
    seconds: float

    def take(self) -> bool:
        """Count one and return whether it is within the limit."""
        count: int = cache.count(self.key, self.seconds)  # type: ignore[attr-defined]  # the method of DatabaseMemory
        return count <= self.most

    def uncount(self) -> None:
        """Uncount one."""
        with contextlib.suppress(ValueError):  # the time is over
            cache.decr(self.key)

    def forget(self) -> None:
        cache.delete(self.key)


def limits(request: HttpRequest, email: str) -> list[Limit]:
    """Return the limits that a sign-in as `email` by this browser counts against."""
    email = email.strip().lower()
    account = hashlib.sha256(email.encode()).hexdigest()[:32]
    known = _known(request, email)
    if known:
        return [Limit(f"sign-in:known:{known}", *settings.SIGN_IN_LIMITS["account and address"])]
    network = network_of(request.META["REMOTE_ADDR"])
    return [
        Limit(f"sign-in:both:{account}:{network}", *settings.SIGN_IN_LIMITS["account and address"]),
        Limit(f"sign-in:account:{account}", *settings.SIGN_IN_LIMITS["account"]),
        Limit(f"sign-in:address:{network}", *settings.SIGN_IN_LIMITS["address"]),
    ]


def remember(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Mark this browser as one that has signed in to the account, for half a year after the last time."""
    signs = {str(user.pk): _sign_of(user)}
    signs |= {pk: sign for pk, sign in _signs(request).items() if pk != str(user.pk)}
    kept = dict(list(signs.items())[:_ACCOUNTS])
    response.set_cookie(
        COOKIE,
        signing.dumps(kept, salt=_SALT, compress=True),
        max_age=_KEEP,
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
        path="/accounts/",
    )


def _known(request: HttpRequest, email: str) -> str:
    """Return the key by which this browser is counted if it signed in to the account before, with today's password."""
    signs = _signs(request)
    user = User.objects.filter(email=email, is_active=True).first() if signs else None
    sign = signs.get(str(user.pk), "") if user else ""
    if user is None or not constant_time_compare(sign, _sign_of(user)):
        return ""
    whole = request.COOKIES.get(COOKIE, "")
    return f"{user.pk}:{hashlib.sha256(whole.encode()).hexdigest()[:32]}"


def _signs(request: HttpRequest) -> dict[str, str]:
    try:
        found = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=_KEEP)
    except signing.BadSignature:
        return {}
    return found if isinstance(found, dict) else {}


def _sign_of(user: User) -> str:
    """Return the browser's proof. It ends with the password: a changed password also forgets a lost browser."""
    return user.get_session_auth_hash()[:32]
