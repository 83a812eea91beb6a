"""Tenants, and the service environments that they belong to."""

from __future__ import annotations

import functools
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accessapi.overrides import Catalogue, load_overrides
from tenants.scope import current_scope, current_tenant_id
from tenants.vault import EncryptedText

COLOURS = ("blue", "teal", "green", "orange", "red", "pink", "purple", "indigo", "cyan", "yellow")
_slug = RegexValidator(
    r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\Z", _("Use lowercase letters a to z, digits and hyphens between them.")
)


@functools.lru_cache(maxsize=64)
def _catalogue(text: str) -> Catalogue:
    return Catalogue(load_overrides(text))


class ServiceEnvironment(models.Model):
    """One environment of the service (development, production): its address, and the portal's client there.

    `overrides` is the operator's TOML for facts that the specification does not show (docs/operations.md).
    """

    name = models.CharField(max_length=40, unique=True, validators=[_slug])
    base_url = models.URLField(max_length=200)
    client_id = models.CharField(max_length=200)
    client_secret = EncryptedText()
    overrides = models.TextField(blank=True, default="")
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.name

    @property
    def tenant_id(self) -> int:
        """Return 0, to which the vault binds the client's secret: environments belong to no tenant."""
        return 0

    @property
    def catalogue(self) -> Catalogue:
        """Return the operations of this environment."""
        return _catalogue(self.overrides)

    @property
    def redirect_uri(self) -> str:
        """Return the redirect URI to register with the service for this environment."""
        return settings.PORTAL_URL + reverse("oauth_callback", args=[self.name])

    def clean(self) -> None:
        self.base_url = self.base_url.rstrip("/")
        try:
            _catalogue(self.overrides)
        except ValueError as error:
            raise ValidationError({"overrides": str(error)}) from error


class Tenant(models.Model):
    """One customer organisation. It has no row security itself: other rows are bound to it."""

    slug = models.CharField(max_length=40, unique=True, validators=[_slug])
    name = models.CharField(max_length=80)
    colour = models.CharField(max_length=10, choices=[(colour, colour) for colour in COLOURS], blank=True)
    environment = models.ForeignKey(ServiceEnvironment, on_delete=models.PROTECT)
    support_allowed = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self.colour:
            self.colour = COLOURS[sum(self.slug.encode()) % len(COLOURS)]
        super().save(*args, **kwargs)

    def get_absolute_url(self) -> str:
        return f"/t/{self.slug}/"

    @property
    def initials(self) -> str:
        """Return one or two characters that distinguish this tenant's browser tab."""
        words = self.name.split()
        if len(words) > 1 and words[0].isascii():
            return (words[0][0] + words[1][0]).upper()
        return self.name[:2] if self.name[:2].isascii() else self.name[:1]


def current_tenant() -> Tenant:
    """Return the current tenant. Read it if only its ID was entered. Raises NoTenant outside of a tenant."""
    scope = current_scope()
    if scope is not None and isinstance(scope.tenant, Tenant):
        return scope.tenant
    return Tenant.objects.select_related("environment").get(pk=current_tenant_id())
