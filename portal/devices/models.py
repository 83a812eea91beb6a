"""When a tenant's board of doors was last open, and doors that are held unlocked with their end."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from portal.domain.intents.models import Intent
from tenants.models import SupportSession, TenantModel


class BoardSight(TenantModel):
    """One row for each tenant, shared by all viewers, so that data is read only once for all of them."""

    looked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="devices_boardsight_once")]

    def __str__(self) -> str:
        return f"{self.looked_at:%Y-%m-%d %H:%M:%S}"


class Hold(TenantModel):
    """A door that is held unlocked, with the person, the end (null: until staff lock it) and the result.

    `intent` is the command that began it, `lock` the last command that should end it, `attempts` their number. `due_at`
    is the next check (null: none).
    """

    class State(models.TextChoices):
        ASKED = "asked"
        STANDING = "standing"
        ENDED = "ended"
        SUPERSEDED = "superseded"
        FAILED = "failed"

    device_id = models.TextField(db_collation="C")
    intent = models.OneToOneField(Intent, on_delete=models.PROTECT, related_name="+")
    lock = models.ForeignKey(Intent, null=True, on_delete=models.PROTECT, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    support_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT, related_name="+")
    until = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.ASKED)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="devices_hold_due", condition=Q(due_at__isnull=False)),
            models.Index(
                fields=["tenant", "device_id"], name="devices_hold_open", condition=Q(state__in=["asked", "standing"])
            ),
        ]

    def __str__(self) -> str:
        return f"{self.device_id}: {self.state}"


# : States in which the door is held, or soon may be.
OPEN = (Hold.State.ASKED, Hold.State.STANDING)
