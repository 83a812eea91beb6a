"""Rows that belong to the installation and to no tenant: values of the cache, and keys that sign exports."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from tenants.vault import EncryptedBytes


class CacheEntry(models.Model):
    """One value under one key. Only `tenants.postgresql.cache` reads and writes it, in single statements."""

    key = models.CharField(max_length=250, primary_key=True)
    value = models.JSONField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.key


class SigningKey(models.Model):
    """An Ed25519 key of the installation. `public` and `private` are its 32 raw bytes, `name` identifies it.

    The key without `retired_at` signs. Retired keys are kept, so that their signatures can be verified.
    """

    name = models.CharField(max_length=64, unique=True)
    public = models.BinaryField(max_length=32)
    private = EncryptedBytes()
    made_at = models.DateTimeField(db_default=Now())
    retired_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                models.Value(1), condition=models.Q(retired_at=None), name="tenants_signing_key_one_in_use"
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def tenant_id(self) -> int:
        """Return 0, to which the vault binds it: the key belongs to no tenant."""
        return 0
