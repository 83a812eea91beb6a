"""A tenant's connection to the service: its token and other secrets, and OAuth states in progress."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from tenants.models.base import TenantModel
from tenants.models.tenants import ServiceEnvironment
from tenants.vault import EncryptedText


class Connection(TenantModel):
    """The one connection of a tenant. Only `tenants.connections` changes it.

    The first grant binds it to the service's tenant_id permanently. `token_generation` grows with every new token.
    `previous_token` is kept from a reissue until the new token has worked. `reissue_round` grows with every attempt to
    reissue, and `reissue_sent_at` is set while the answer to one is not known.
    """

    class State(models.TextChoices):
        NONE = "none", _("Not connected")
        CONNECTED = "connected", _("Connected")
        BROKEN = "broken", _("Connection lost")
        REVOKED = "revoked", _("Revoked")

    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT)
    state = models.CharField(max_length=10, choices=State.choices, default=State.NONE)
    state_reason = models.CharField(max_length=200, blank=True, default="")
    state_at = models.DateTimeField(default=timezone.now)

    # Bound at the first grant: one tenant of the service is connected to one tenant of the portal.
    environment = models.ForeignKey(ServiceEnvironment, null=True, on_delete=models.PROTECT, related_name="+")
    service_tenant_id = models.CharField(max_length=200, blank=True, default="")
    service_tenant_name = models.CharField(max_length=200, blank=True, default="")
    service_settings = models.JSONField(default=dict, blank=True)

    access_token = EncryptedText(null=True)
    previous_token = EncryptedText(null=True)
    licence_key = EncryptedText(null=True)
    token_generation = models.PositiveIntegerField(default=0)
    token_at = models.DateTimeField(null=True)
    granted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    granted_at = models.DateTimeField(null=True)

    reissue_round = models.PositiveIntegerField(default=0)
    reissue_sent_at = models.DateTimeField(null=True)
    reissue_outcome = models.CharField(max_length=20, blank=True, default="")

    last_call_at = models.DateTimeField(null=True)
    last_call_operation = models.CharField(max_length=40, blank=True, default="")
    last_call_status = models.PositiveSmallIntegerField(null=True)
    last_success_at = models.DateTimeField(null=True)
    scopes_refused = models.JSONField(default=list, blank=True)
    contracts_refused = models.JSONField(default=list, blank=True)
    # Refusals with unknown codes, unchanged: operation, status, code, words, at. One per operation.
    refusals = models.JSONField(default=list, blank=True)
    # The service's limits that are lower than ours: limit -> value.
    limits_learned = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["environment", "service_tenant_id"],
                condition=~models.Q(service_tenant_id=""),
                name="tenants_one_connection_per_service_tenant",
            )
        ]

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.state}"

    @classmethod
    def connected_tenants(cls) -> models.QuerySet[Connection, dict[str, Any]]:
        """Return the keys of all connected tenants, as `tenant_id`. Evaluate it in `across_tenants`."""
        return cls.objects_across_tenants.filter(state=cls.State.CONNECTED).values("tenant_id")

    @property
    def is_connected(self) -> bool:
        return self.state == self.State.CONNECTED

    @property
    def has_licence_key(self) -> bool:
        return self.__dict__.get("licence_key") is not None


class OAuthState(TenantModel):
    """One grant in progress: a one-time state, bound to session, person, tenant and environment, for ten minutes."""

    digest = models.BinaryField(max_length=32, unique=True)
    session_digest = models.BinaryField(max_length=32)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    environment = models.ForeignKey(ServiceEnvironment, on_delete=models.CASCADE)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.created_at:%Y-%m-%d %H:%M}"
