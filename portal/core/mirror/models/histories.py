"""What happened at doors and key boxes."""

from django.db import models
from django.db.models import Q

from tenants.models import TenantModel


class History(TenantModel):
    """A log record (specification: "Log (history) record", operation 23), kept once for each history_id.

    Texts are the service's own; sets of values are not shown, so any may come. `member_id` is whoever the record is
    about: a member or a guest, as `member_type` says. What the service puts into `member.data` (a card's number, a
    code) is never kept. `extra` holds, verbatim, what the specification does not name, but for what sounds secret.
    """

    # Every index of this table begins with the tenant: one more would only slow the readings down.
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)

    history_id = models.TextField(db_collation="C")
    at = models.DateTimeField()
    status = models.TextField(blank=True, default="")
    category = models.TextField(blank=True, default="")
    content = models.TextField(blank=True, default="")
    member_id = models.TextField(blank=True, default="", db_collation="C")
    member_name = models.TextField(blank=True, default="")
    member_type = models.TextField(blank=True, default="")
    member_label = models.TextField(blank=True, default="")
    member_attribute = models.TextField(blank=True, default="")
    device_id = models.TextField(blank=True, default="", db_collation="C")
    device_name = models.TextField(blank=True, default="")
    device_module = models.TextField(blank=True, default="")
    units = models.JSONField(default=list)
    extra = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "history_id"], name="mirror_history_once")]
        indexes = [
            models.Index(fields=["tenant", "-at", "-id"], name="mirror_history_newest"),
            models.Index(
                fields=["tenant", "member_id", "-at"], name="mirror_history_of_member", condition=~Q(member_id="")
            ),
            models.Index(
                fields=["tenant", "device_id", "-at"], name="mirror_history_of_device", condition=~Q(device_id="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.content}"
