"""The audit trail: who did what, when, to what. Rows are only ever added; the database refuses anything else."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from tenants.models.base import TenantModel
from tenants.models.people import SupportSession
from tenants.vault import EncryptedJSON
from tenants.wording import Said, SaidField, shown


class AuditEntry(TenantModel):
    """One act. `before` and `after` may name personal data and are encrypted; secrets are left out by the writer."""

    at = models.DateTimeField(default=timezone.now)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    by_label = models.CharField(max_length=120, blank=True, default="")
    support_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT)
    # The client's, when a request did it; empty for workers and commands.
    address = models.GenericIPAddressField(null=True)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200, blank=True, default="")
    summary = SaidField(blank=True, default="")
    before = EncryptedJSON(null=True)
    after = EncryptedJSON(null=True)
    intent_id = models.CharField(max_length=40, blank=True, default="")

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-at", "-id"], name="tenants_audit_newest"),
            models.Index(fields=["tenant", "target", "-at"], name="tenants_audit_target"),
            models.Index(
                fields=["tenant", "intent_id"], condition=~models.Q(intent_id=""), name="tenants_audit_intent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.action} {self.target}"

    @property
    def sentence(self) -> str:
        """What was done, as pages show it: as it was kept, else in the words of its code."""
        return shown(self.summary or Said(self.action))
