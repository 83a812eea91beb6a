"""The record of what happens to accounts: a row, a line of the log, and a mail where the person must know.

allauth's signals tell of it (`listen`), and its adapters of what has no signal (`adapter.py`).
"""

from __future__ import annotations

from typing import Any

import structlog
from allauth.account import signals as account
from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from django.contrib.auth.signals import user_logged_out
from django.db import transaction
from django.dispatch import Signal
from django.http import HttpRequest

from tenants import addresses, mails
from tenants.browsers import family
from tenants.models import AccountEvent, User
from tenants.staff.throttle import Limit

log = structlog.get_logger(__name__)

Kind, Method = AccountEvent.Kind, AccountEvent.Method
MAIL = "account"
# Beside a sign-in from a new browser.
_MAILED = frozenset(
    {
        Kind.PASSWORD_CHANGED,
        Kind.PASSWORD_RESET,
        Kind.FACTOR_ADDED,
        Kind.FACTOR_REMOVED,
        Kind.CODES_MADE,
        Kind.SESSIONS_ENDED,
    }
)
# Whoever is refused can go on asking without end: of one account or address this is written once in so many seconds.
_THROTTLED_SECONDS = 300


def write(
    request: HttpRequest,
    kind: AccountEvent.Kind,
    user: User | None,
    *,
    method: str = "",
    success: bool = True,
    mail: bool | None = None,
) -> None:
    """Write down an event of an account, with a mail to the person if its kind needs one or `mail` says so."""
    browser, address = family(request.META.get("HTTP_USER_AGENT", "")), addresses.current()
    with transaction.atomic():
        AccountEvent.objects.create(
            user=user, kind=kind, method=method, address=address, browser=browser, success=success
        )
        if user is not None and (kind in _MAILED if mail is None else mail):
            values = {"event": str(kind), "method": method, "browser": browser, "address": address or ""}
            mails.write(to=user, kind=MAIL, values=values)
    log.info("account_event", kind=str(kind), user_id=user and user.pk, method=method, success=success)


def signed_in(request: HttpRequest, user: User, *, known: bool) -> None:
    """Write down a sign-in. From a browser that is not known the person hears of it, except of their first one."""
    done = AccountEvent.objects.filter(user=user, kind=Kind.SIGN_IN, success=True)
    write(request, Kind.SIGN_IN, user, method=_latest(request, user), mail=not known and done.exists())


def throttled(request: HttpRequest, user: User | None) -> None:
    """Write down that somebody has tried too often."""
    who = user.pk if user is not None else addresses.current()
    if Limit(f"recorded:{who}", 1, _THROTTLED_SECONDS).take():
        write(request, Kind.THROTTLED, user, success=False)


def listen() -> None:
    """Hear allauth's signals. Called once, at start."""
    listeners: tuple[tuple[Signal, Any], ...] = (
        (user_logged_out, _signed_out),
        (account.authentication_step_completed, _proven),
        (account.password_changed, _password_changed),
        (account.password_set, _password_changed),
        (account.password_reset, _password_reset),
        (mfa.authentication_failed, _factor_failed),
        (mfa.authenticator_added, _factor_added),
        (mfa.authenticator_reset, _codes_made),
        (mfa.authenticator_removed, _factor_removed),
    )
    for signal, listener in listeners:
        signal.connect(listener, dispatch_uid=f"tenants.record.{listener.__name__}")


def _latest(request: HttpRequest, user: User) -> str:
    """Return the method of this session's latest step: the second factor, where there is one."""
    steps = get_authentication_records(request, user) or [{}]
    return _method(steps[-1].get("type") or steps[-1].get("method", ""))


def _method(name: str) -> str:
    return name if name in Method.values else ""


def _signed_out(request: HttpRequest | None, user: User | None, **_more: Any) -> None:
    if request is not None and user is not None:
        write(request, Kind.SIGN_OUT, user)


def _proven(request: HttpRequest, user: User, method: str, **more: Any) -> None:
    if more.get("reauthenticated"):
        write(request, Kind.PROOF, user, method=_method(more.get("type") or method))


def _password_changed(request: HttpRequest, user: User, **_more: Any) -> None:
    write(request, Kind.PASSWORD_CHANGED, user)


def _password_reset(request: HttpRequest, user: User, **_more: Any) -> None:
    write(request, Kind.PASSWORD_RESET, user)


def _factor_failed(
    request: HttpRequest, user: User, authenticator: Authenticator, reauthentication: bool = False, **_more: Any
) -> None:
    kind = Kind.PROOF if reauthentication else Kind.SIGN_IN
    write(request, kind, user, method=_method(authenticator.type), success=False)


def _factor_added(request: HttpRequest, user: User, authenticator: Authenticator, **_more: Any) -> None:
    if authenticator.type == Method.RECOVERY_CODES:  # they come with the first factor, of which a mail tells
        write(request, Kind.CODES_MADE, user, mail=False)
    else:
        write(request, Kind.FACTOR_ADDED, user, method=_method(authenticator.type))


def _codes_made(request: HttpRequest, user: User, **_more: Any) -> None:
    write(request, Kind.CODES_MADE, user)


def _factor_removed(request: HttpRequest, user: User, authenticator: Authenticator, **_more: Any) -> None:
    # Recovery codes go with the last factor, of which a mail tells.
    mail = authenticator.type != Method.RECOVERY_CODES
    write(request, Kind.FACTOR_REMOVED, user, method=_method(authenticator.type), mail=mail)
