"""People who sign in, and their roles in tenants."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower, Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from tenants import roles
from tenants.models.base import TenantModel
from tenants.vault import EncryptedJSON


class UserManager(BaseUserManager["User"]):
    """A manager of accounts by e-mail address, stored in lower case."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Create and return an account; without a password, sign-in with a password is impossible."""
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=(username or "").lower())


class User(AbstractBaseUser, PermissionsMixin):
    """A person who signs in. Access to a tenant comes only from `Staff` or from a support session."""

    class Theme(models.TextChoices):
        AUTO = "auto", _("Same as device")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    email = models.EmailField(_("e-mail address"), unique=True)
    name = models.CharField(_("name"), max_length=80, blank=True)
    language = models.CharField(max_length=5, blank=True, default="")
    theme = models.CharField(max_length=5, choices=Theme.choices, default=Theme.AUTO)
    platform_role = models.CharField(max_length=20, blank=True, default="", choices=roles.platform_choices)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    date_joined = models.DateTimeField(default=timezone.now)

    objects = UserManager()

    EMAIL_FIELD = "email"
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="tenants_user_email_any_case")]

    def __str__(self) -> str:
        return self.name or self.email

    def get_full_name(self) -> str:
        return str(self)

    def get_short_name(self) -> str:
        return str(self)


class Staff(TenantModel):
    """One person's role in one tenant. Read at every request, so that a change takes effect at once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    role = models.CharField(max_length=20, choices=roles.tenant_choices)
    is_active = models.BooleanField(default=True)
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "user"], name="tenants_staff_once")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class Invitation(TenantModel):
    """An e-mail invitation for one address. Only the token's digest is stored; it works once, until it expires."""

    email = models.EmailField()
    role = models.CharField(max_length=20, choices=roles.tenant_choices)
    token_digest = models.BinaryField(max_length=32, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.email

    @property
    def is_open(self) -> bool:
        return self.accepted_at is None and self.revoked_at is None and self.expires_at > timezone.now()


class SupportSession(TenantModel):
    """A session of a platform staff member inside a tenant: the reason, the end, and the person who ended it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    reason = models.CharField(max_length=200)
    started_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        indexes = [
            models.Index(fields=["user", "tenant"], condition=models.Q(ended_at=None), name="tenants_support_open")
        ]

    def __str__(self) -> str:
        return self.reason

    @property
    def is_open(self) -> bool:
        return self.ended_at is None and self.expires_at > timezone.now()

    @property
    def minutes_left(self) -> int:
        """Return the whole minutes until the session ends automatically, rounded up; 0 after its end."""
        left = (self.expires_at - timezone.now()).total_seconds() if self.is_open else 0
        return max(0, -int(-left // 60))


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


class AccountMail(models.Model):
    """One mail to one account. The row is deleted after sending, as `values` may open the account.

    `due_at` is when a worker processes it; `claimed_at` is set while one sends it. `language` is the language of the
    requesting page, for a person who has not chosen one.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    values = EncryptedJSON()
    language = models.CharField(max_length=5)
    written_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(db_default=Now(), db_index=True)
    claimed_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return f"#{self.pk}: {self.kind}"

    @property
    def tenant_id(self) -> int:
        """Return 0, to which the vault binds it: an account belongs to no tenant."""
        return 0
