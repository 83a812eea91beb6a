"""Where each person was last, by the newest record of the log of a door; and how often doors were passed by hour."""

from django.db import models

from tenants.models import TenantModel


class Inside(TenantModel):
    """The last passage of one person of the service, member or guest.

    Whether it led in or out is not kept: that follows from where the door stands in its areas (`door_directions.py`),
    which the tenant may set right. Names are not kept either.
    """

    member_id = models.TextField(db_collation="C")
    at = models.DateTimeField()
    history_id = models.TextField(db_collation="C")
    device_id = models.TextField(db_collation="C")
    device_name = models.TextField(blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "member_id"], name="inside_once")]
        indexes = [models.Index(fields=["tenant", "-at"], name="inside_newest")]

    def __str__(self) -> str:
        return f"{self.member_id} {self.at:%Y-%m-%d %H:%M}"


class PassedHour(TenantModel):
    """How often people of the service passed a door in one hour, by the log (`hours.py`). Tells of nobody."""

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    hour = models.DateTimeField()
    device_id = models.TextField(db_collation="C")
    number = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "hour", "device_id"], name="inside_passed_once")]

    def __str__(self) -> str:
        return f"{self.device_id} {self.hour:%Y-%m-%d %H}: {self.number}"
