"""Records of account events: a row, a log line, and a mail if the person must know.

allauth's signals report most events (`connect_signals`). Its adapters record events without a signal
(`tenants.staff.adapter`).
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

from tenants import client_addresses, mails
from tenants.client_addresses import describe_browser
from tenants.models import AccountEvent, User
from tenants.staff.throttle import SignInLimit

log = structlog.get_logger(__name__)

Kind, Method = AccountEvent.Kind, AccountEvent.Method
MAIL_KIND = "account"
# Kinds that send a mail, apart from a sign-in from a new browser.
_MAILED_KINDS = frozenset(
    {
        Kind.PASSWORD_CHANGED,
        Kind.PASSWORD_RESET,
        Kind.FACTOR_ADDED,
        Kind.FACTOR_REMOVED,
        Kind.CODES_MADE,
        Kind.SESSIONS_ENDED,
    }
)
# A blocked guesser can continue without end, so this is recorded only once per account or address in so many seconds.
_THROTTLED_SECONDS = 300


def record(
    request: HttpRequest | None,
    kind: AccountEvent.Kind,
    user: User | None,
    *,
    method: str = "",
    success: bool = True,
    mail: bool | None = None,
) -> None:
    """Record an event of an account, with a mail to the person if its kind needs one or `mail` is true.

    A command has no `request`.
    """
    browser = describe_browser(request.META.get("HTTP_USER_AGENT", "")) if request is not None else ""
    address = client_addresses.current()
    with transaction.atomic():
        AccountEvent.objects.create(
            user=user, kind=kind, method=method, address=address, browser=browser, success=success
        )
        if user is not None and (kind in _MAILED_KINDS if mail is None else mail):
            values = {"event": str(kind), "method": method, "browser": browser, "address": address or ""}
            mails.queue(to=user, kind=MAIL_KIND, values=values)
    log.info("account_event", kind=str(kind), user_id=user and user.pk, method=method, success=success)


def record_sign_in(request: HttpRequest, user: User, *, known: bool) -> None:
    """Record a sign-in. If the browser is unknown, notify the person, except at their first sign-in."""
    done = AccountEvent.objects.filter(user=user, kind=Kind.SIGN_IN, success=True)
    record(request, Kind.SIGN_IN, user, method=_latest_method(request, user), mail=not known and done.exists())


def record_throttled(request: HttpRequest, user: User | None) -> None:
    """Record too many attempts."""
    who = user.pk if user is not None else client_addresses.current()
    if SignInLimit(f"recorded:{who}", 1, _THROTTLED_SECONDS).count_one():
        record(request, Kind.THROTTLED, user, success=False)


def connect_signals() -> None:
    """Connect to allauth's signals. Called once, at start."""
    listeners: tuple[tuple[Signal, Any], ...] = (
        (user_logged_out, _on_sign_out),
        (account.authentication_step_completed, _on_authenticated),
        (account.password_changed, _on_password_changed),
        (account.password_set, _on_password_changed),
        (account.password_reset, _on_password_reset),
        (mfa.authentication_failed, _on_factor_failed),
        (mfa.authenticator_added, _on_factor_added),
        (mfa.authenticator_reset, _on_codes_created),
        (mfa.authenticator_removed, _on_factor_removed),
    )
    for signal, listener in listeners:
        signal.connect(listener, dispatch_uid=f"tenants.record.{listener.__name__}")


def _latest_method(request: HttpRequest, user: User) -> str:
    """Return the method of this session's latest step: the second factor, if there is one."""
    steps = get_authentication_records(request, user) or [{}]
    return _known_method(steps[-1].get("type") or steps[-1].get("method", ""))


def _known_method(name: str) -> str:
    return name if name in Method.values else ""


def _on_sign_out(request: HttpRequest | None, user: User | None, **_more: Any) -> None:
    if request is not None and user is not None:
        record(request, Kind.SIGN_OUT, user)


def _on_authenticated(request: HttpRequest, user: User, method: str, **more: Any) -> None:
    if more.get("reauthenticated"):
        record(request, Kind.PROOF, user, method=_known_method(more.get("type") or method))


def _on_password_changed(request: HttpRequest, user: User, **_more: Any) -> None:
    record(request, Kind.PASSWORD_CHANGED, user)


def _on_password_reset(request: HttpRequest, user: User, **_more: Any) -> None:
    record(request, Kind.PASSWORD_RESET, user)


def _on_factor_failed(
    request: HttpRequest, user: User, authenticator: Authenticator, reauthentication: bool = False, **_more: Any
) -> None:
    kind = Kind.PROOF if reauthentication else Kind.SIGN_IN
    record(request, kind, user, method=_known_method(authenticator.type), success=False)


def _on_factor_added(request: HttpRequest, user: User, authenticator: Authenticator, **_more: Any) -> None:
    if authenticator.type == Method.RECOVERY_CODES:  # created with the first factor, which sends a mail
        record(request, Kind.CODES_MADE, user, mail=False)
    else:
        record(request, Kind.FACTOR_ADDED, user, method=_known_method(authenticator.type))


def _on_codes_created(request: HttpRequest, user: User, **_more: Any) -> None:
    record(request, Kind.CODES_MADE, user)


def _on_factor_removed(request: HttpRequest, user: User, authenticator: Authenticator, **_more: Any) -> None:
    # Recovery codes are removed with the last factor, which sends a mail.
    mail = authenticator.type != Method.RECOVERY_CODES
    record(request, Kind.FACTOR_REMOVED, user, method=_known_method(authenticator.type), mail=mail)
