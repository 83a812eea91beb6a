"""When a tenant's board of doors was last open, doors of orders, and doors that are held unlocked with their end."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from portal.domain.intents.models import Intent, target_of
from portal.domain.places.models import PassController
from tenants.models import SupportSession, TenantModel


class BoardView(TenantModel):
    """One row for each tenant, shared by all viewers, so that data is read only once for all of them."""

    looked_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="devices_boardview_once")]

    def __str__(self) -> str:
        return f"{self.looked_at:%Y-%m-%d %H:%M:%S}"


class OrderedDoor(TenantModel):
    """A door of an order (`door_orders.py`): the order's latest request for it, and the number of its requests."""

    device_id = models.TextField(db_collation="C")
    request = models.ForeignKey(Intent, null=True, on_delete=models.PROTECT, related_name="+")
    request_id: int | None
    attempts = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True

    @property
    def last_request_id(self) -> int | None:
        """Return the request after which other people's requests are newer; None before the first one."""
        return self.request_id

    @property
    def door_name(self) -> str:
        return self.device_id

    @property
    def target(self) -> str:
        """Return the door's name in requests."""
        return target_of("pass_controller", self.device_id)


class Hold(OrderedDoor):
    """A door that is held unlocked, with the person, the end (null: until staff lock it) and the result.

    `unlock` is the request that began it. At its end it becomes an order to lock the door: `request` is the latest
    lock, number `attempts`. `due_at` is the next check (null: none).
    """

    class State(models.TextChoices):
        REQUESTED = "requested"
        ACTIVE = "active"
        ENDED = "ended"
        SUPERSEDED = "superseded"
        FAILED = "failed"

    unlock = models.OneToOneField(Intent, on_delete=models.PROTECT, related_name="+")
    unlock_id: int
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    support_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT, related_name="+")
    ends_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.REQUESTED)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="devices_hold_due", condition=Q(due_at__isnull=False)),
            models.Index(
                fields=["tenant", "device_id"], name="devices_hold_open", condition=Q(state__in=["requested", "active"])
            ),
        ]

    def __str__(self) -> str:
        return f"{self.device_id}: {self.state}"

    @property
    def last_request_id(self) -> int:
        return self.request_id or self.unlock_id

    @property
    def door_name(self) -> str:
        """Return the door's present name; its ID if the door no longer exists."""
        door = PassController.objects.filter(device_id=self.device_id).only("tenant_id", "device_name").first()
        return door.device_name if door is not None else self.device_id


# : States in which the door is held, or soon may be.
OPEN = (Hold.State.REQUESTED, Hold.State.ACTIVE)
