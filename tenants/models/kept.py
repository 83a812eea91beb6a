"""Short-lived values that may be lost at any time: counts of limits, used codes."""

from __future__ import annotations

from django.db import models


class Kept(models.Model):
    """One value under one key. Only `tenants.postgres_cache` reads and writes it, in single statements."""

    key = models.CharField(max_length=250, primary_key=True)
    value = models.JSONField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.key
