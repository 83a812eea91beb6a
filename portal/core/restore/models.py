"""What was found when a tenant's data came from a backup."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tenants.models import TenantModel


class Restored(TenantModel):
    """A tenant's data were found to be a copy. What the portal would do by itself waits until a person releases it.

    `taken_at` is the last moment that the copy knows of: what happened from then to `found_at` is not known here.
    `identity` says which database this one was taken for, and which it is (`timers/database_identity.py`). `counts`:
    how many rows were marked, by kind; `waiting`: those that go on when they are released.
    """

    taken_at = models.DateTimeField(null=True)
    found_at = models.DateTimeField(db_default=Now())
    identity = models.TextField()
    counts = models.JSONField(default=dict)
    waiting = models.JSONField(default=dict)
    released_at = models.DateTimeField(null=True)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant"], name="restore_one_that_waits", condition=Q(released_at__isnull=True)
            )
        ]
        indexes = [models.Index(fields=["tenant", "-found_at"], name="restore_newest")]

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.found_at:%Y-%m-%d %H:%M}"
