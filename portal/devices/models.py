"""When somebody last had a tenant's board of doors in sight."""

from django.db import models

from tenants.models import TenantModel


class BoardSight(TenantModel):
    """One row for a tenant, whoever looks and however many do: what is read for them is read once."""

    looked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="devices_boardsight_once")]

    def __str__(self) -> str:
        return f"{self.looked_at:%Y-%m-%d %H:%M:%S}"
