"""allauth's behaviour here: no public sign-up, limited password guessing, and secrets in the vault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy

from tenants import interrupted_requests, mails, vault
from tenants.models import User
from tenants.staff import account_events, throttle
from tenants.staff.account_events import Kind, Method

MFA_BINDING = "0|mfa|secret"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Accounts, which are created only by an invitation or by an operator's command."""

    _event_kind = Kind.SIGN_IN
    error_messages = DefaultAccountAdapter.error_messages | {
        "too_many_login_attempts": gettext_lazy("Too many wrong attempts. Wait five minutes, or use a passkey."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, str]]:
        """Return allauth's methods to confirm identity, the quickest first: a passkey, a code, the password."""
        order = ("mfa_reauthenticate:webauthn", "mfa_reauthenticate", "reauthenticate")
        return sorted(super().get_reauthentication_methods(user), key=lambda method: order.index(method["id"]))

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the client's address, which `portal.site.middleware` has set."""
        return str(request.META["REMOTE_ADDR"])

    # Limits on guessing. allauth's own limits refuse a correct password because of other people's wrong ones.

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt. Raises ValidationError if it is one too many, even with the right password."""
        self._limits = throttle.limits_for(request, credentials.get("email", ""))
        within = [limit.count_one() for limit in self._limits]  # each one counts, even if another is reached
        if not all(within):
            account_events.record_throttled(request, _user_of(credentials))
            raise self.validation_error("too_many_login_attempts")

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Record a wrong password, or an address without an account."""
        account_events.record(request, self._event_kind, _user_of(credentials), method=Method.PASSWORD, success=False)

    def reauthenticate(self, user: User, password: str) -> bool:
        self._event_kind = Kind.PROOF
        return bool(super().reauthenticate(user, password))

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        account_events.record(request, Kind.SIGN_IN, user, success=False)
        response: HttpResponse = super().respond_user_inactive(request, user)
        return response

    def _rollback_login_failed_rl_usage(self) -> None:
        for limit in self._limits:
            limit.uncount()

    def _delete_login_attempts_cached_email(self, request: HttpRequest, **credentials: Any) -> None:
        for limit in throttle.limits_for(request, credentials.get("email", ""))[:2]:
            limit.clear()

    def post_login(self, request: HttpRequest, user: User, **more: Any) -> HttpResponse:
        """Record the sign-in, and mark this browser as known, after the person has given every factor."""
        response: HttpResponse = super().post_login(request, user, **more)
        interrupted_requests.discard_of_others(request)
        account_events.record_sign_in(request, user, known=throttle.is_known_browser(request, user))
        throttle.remember_browser(request, response, user)
        return response

    # The one mail that allauth sends here.

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Return the link under the configured address: the client chooses the request's host."""
        uid, _dash, secret = key.partition("-")
        return settings.PORTAL_URL + reverse("account_reset_password_from_key", kwargs={"uidb36": uid, "key": secret})

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        """Queue the mail to the account's stored address, however the typed one is spelled."""
        mails.queue(to=user, kind=mails.RESET_LINK, values={"address": context["password_reset_url"]})


class SessionsAdapter(DefaultUserSessionsAdapter):  # type: ignore[misc]  # allauth has no types
    """Sessions, which the person ends in `tenants.staff.account`."""

    def end_sessions(self, sessions: list[UserSession]) -> None:
        with transaction.atomic():
            super().end_sessions(sessions)
            if sessions:
                account_events.record(context.request, Kind.SESSIONS_ENDED, context.request.user)


def _user_of(credentials: Mapping[str, Any]) -> User | None:
    """Return the account of a typed address."""
    return User.objects.filter(email=credentials.get("email", "").strip().lower()).first()


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """TOTP seeds and recovery codes, encrypted. Passkeys hold public keys only."""

    def encrypt(self, text: str) -> str:
        return vault.seal(text.encode(), bound_to=MFA_BINDING).hex()

    def decrypt(self, encrypted_text: str) -> str:
        return vault.open_sealed(bytes.fromhex(encrypted_text), bound_to=MFA_BINDING).decode()
