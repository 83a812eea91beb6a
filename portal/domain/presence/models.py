"""The last place of each person, from the newest log record of a door, and the passages of doors per hour."""

from django.db import models

from tenants.models import TenantModel


class LastPassage(TenantModel):
    """The last passage of one member or guest.

    Whether it led in or out is not stored: it follows from the door's areas (`people.DoorDirections`), which the tenant
    may correct. Names are not stored either.
    """

    member_id = models.TextField(db_collation="C")
    at = models.DateTimeField()
    history_id = models.TextField(db_collation="C")
    device_id = models.TextField(db_collation="C")
    device_name = models.TextField(blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "member_id"], name="presence_last_passage_once")]
        indexes = [models.Index(fields=["tenant", "-at"], name="presence_newest_passage")]

    def __str__(self) -> str:
        return f"{self.member_id} {self.at:%Y-%m-%d %H:%M}"


class HourlyPassages(TenantModel):
    """The passages of a door in one hour, from the log (`passages.py`). It holds no personal data."""

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    hour = models.DateTimeField()
    device_id = models.TextField(db_collation="C")
    number = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "hour", "device_id"], name="presence_passages_once")]

    def __str__(self) -> str:
        return f"{self.device_id} {self.hour:%Y-%m-%d %H}: {self.number}"
