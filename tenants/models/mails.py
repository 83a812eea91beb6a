"""Mails to accounts that wait for a worker."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from tenants.vault import EncryptedJSON


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
