"""Records of restored tenants."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tenants.models import TenantModel


class Restore(TenantModel):
    """The detection that a tenant's data was restored. Automatic work waits until a person releases it.

    `taken_at` is the time of the backup: changes from then to `found_at` are unknown. `identity` contains the
    database's former and current identity (`timers/database_identity.py`). `counts`: the number of marked rows by kind.
    `waiting`: the rows that continue after the release.
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
