"""The row of each stored file: its place, its key, and when it is deleted."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tenants.models import TenantModel
from tenants.vault import EncryptedBytes


class StoredFile(TenantModel):
    """A file of the tenant, encrypted with its own `key` (`store.py`).

    `path` is its place in the store; `sha256` (hex) and `size` are those of the plain bytes. It is deleted from
    `delete_at` on, which is set until the file is complete, and again when it is no longer needed.
    """

    path = models.CharField(max_length=100, unique=True)
    key = EncryptedBytes(null=True)
    sha256 = models.CharField(max_length=64, blank=True, default="")
    size = models.BigIntegerField(default=0)
    content_type = models.CharField(max_length=80, blank=True, default="")
    made_at = models.DateTimeField(db_default=Now())
    delete_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["delete_at"], name="storage_file_delete_at", condition=Q(delete_at__isnull=False))
        ]

    def __str__(self) -> str:
        return self.path
