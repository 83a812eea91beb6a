"""Events of accounts: sign-ins, attempts, and changes of sign-in methods."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class AccountEvent(models.Model):
    """One event of one account. `user` is empty if no account has the typed address, which is not stored.

    It belongs to no tenant: a person signs in before entering a tenant.
    """

    class Kind(models.TextChoices):
        SIGN_IN = "sign_in", pgettext_lazy("sign-in history", "Sign-in")
        PROOF = "proof", pgettext_lazy("sign-in history", "Identity check")
        THROTTLED = "throttled", pgettext_lazy("sign-in history", "Too many attempts")
        SIGN_OUT = "sign_out", pgettext_lazy("sign-in history", "Sign-out")
        RESET_ASKED = "reset_asked", pgettext_lazy("sign-in history", "Reset link requested")
        PASSWORD_RESET = "password_reset", pgettext_lazy("sign-in history", "Password reset")
        PASSWORD_CHANGED = "password_changed", pgettext_lazy("sign-in history", "Password changed")
        FACTOR_ADDED = "factor_added", _("Sign-in method added")
        FACTOR_REMOVED = "factor_removed", _("Sign-in method removed")
        CODES_MADE = "codes_made", pgettext_lazy("sign-in history", "New recovery codes")
        SESSIONS_ENDED = "sessions_ended", _("Signed out everywhere else")

    class Method(models.TextChoices):
        """The method with which the person signed in, or that was added or removed; allauth's names."""

        PASSWORD = "password", pgettext_lazy("sign-in history", "Password")
        TOTP = "totp", pgettext_lazy("sign-in history", "Authenticator app")
        PASSKEY = "webauthn", pgettext_lazy("sign-in history", "Passkey")
        RECOVERY_CODES = "recovery_codes", pgettext_lazy("sign-in history", "Recovery code")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(db_default=Now(), db_index=True)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    method = models.CharField(max_length=20, choices=Method.choices, blank=True, default="")
    address = models.GenericIPAddressField(null=True)
    browser = models.CharField(max_length=60, blank=True, default="")
    success = models.BooleanField(default=True)

    class Meta:
        indexes = [models.Index(fields=["user", "-id"], name="tenants_account_newest")]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.kind}"
