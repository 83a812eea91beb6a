"""Models of lockdowns: an order to lock many doors until it is released, and the outcome for each door."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.devices.models import OrderedDoor
from tenants.models import TenantModel


class Scope(models.TextChoices):
    ALL = "all", _("All doors")
    AREA = "area", _("Doors of an area")
    CHOSEN = "chosen", _("Chosen doors")


class Kind(models.TextChoices):
    """The kind of an order. The value is the prefix of its actions in the audit log.

    An evacuation holds doors unlocked. A separate order of the kind RELOCK locks them again afterwards.
    """

    LOCKDOWN = "lockdown", _("Lockdown")
    EVACUATION = "evacuation", _("Evacuation unlock")
    RELOCK = "relock", _("Locking after an evacuation")


class State(models.TextChoices):
    REQUESTED = "requested", pgettext_lazy("lockdown", "Waiting for a second person")
    ACTIVE = "active", pgettext_lazy("lockdown", "Active")
    RELEASED = "released", pgettext_lazy("lockdown", "Released")
    REPLACED = "replaced", pgettext_lazy("lockdown", "Replaced by a newer one")
    WITHDRAWN = "withdrawn", pgettext_lazy("lockdown", "Not confirmed, nothing sent")
    DONE = "done", pgettext_lazy("lockdown", "Done")
    REHEARSED = "rehearsed", pgettext_lazy("lockdown", "Rehearsal, nothing sent")


class Lockdown(TenantModel):
    """An order for many doors. `started_by` clicked the button; retries need the permission of `by`.

    `by` is the person who last started, confirmed or resent the order. An order that needs a second person waits until
    `confirm_by`. While it is active, `due_at` is its timer: null when there is nothing to retry. A rehearsal is never
    active and has no requests. `nonce` is that of the form.
    """

    nonce = models.CharField(max_length=64)
    kind = models.CharField(max_length=10, choices=Kind)
    state = models.CharField(max_length=10, choices=State)
    scope = models.CharField(max_length=10, choices=Scope)
    area_name = models.TextField(blank=True, default="")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    started_at = models.DateTimeField(db_default=Now())
    confirm_by = models.DateTimeField(null=True)
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    due_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "nonce"], name="lockdown_one_per_nonce"),
            models.UniqueConstraint(
                fields=["tenant", "kind"], name="lockdown_one_active", condition=Q(state=State.ACTIVE.value)
            ),
        ]
        indexes = [models.Index(fields=["due_at"], name="lockdown_due", condition=Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.kind}: {self.area_name or self.scope} ({self.state})"

    @property
    def is_evacuation(self) -> bool:
        return self.kind == Kind.EVACUATION


class Forecast(models.TextChoices):
    """The problem that a rehearsal expects for a door; empty if none is expected."""

    OFFLINE = "offline"
    UNKNOWN = "unknown"
    CALLS = "calls"


class LockdownDoor(OrderedDoor):
    """A door of a lockdown. `before` is its state at the start.

    The name is stored, because the door may no longer exist in the service when the page is read.
    """

    lockdown = models.ForeignKey(Lockdown, on_delete=models.CASCADE, related_name="doors")
    name = models.TextField(blank=True, default="")
    before = models.CharField(max_length=20, blank=True, default="")
    forecast = models.CharField(max_length=10, choices=Forecast, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lockdown", "device_id"], name="lockdown_door_once")]

    def __str__(self) -> str:
        return self.name or self.device_id

    @property
    def door_name(self) -> str:
        return self.name


class SecondPersonRule(models.TextChoices):
    """The kinds of orders that a second person has to confirm before anything is sent."""

    NOTHING = "", pgettext_lazy("second confirmation", "Nothing")
    EVACUATION = "evacuation", _("Evacuation unlock")
    BOTH = "both", _("Evacuation unlock and lockdown")


class LockdownSetting(TenantModel):
    """The lockdown settings of a tenant (one row): evacuation unlock, its doors, and what a second person confirms."""

    evacuation = models.BooleanField(default=False)
    doors = models.JSONField(default=list)
    second = models.CharField(max_length=10, choices=SecondPersonRule, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="lockdown_one_setting")]

    def __str__(self) -> str:
        return f"evacuation: {self.evacuation}, second: {self.second}"

    def needs_second_person(self, kind: Kind) -> bool:
        """Check whether an order of this kind waits for a second person. Relocking never does."""
        return self.second == kind.value or (self.second == SecondPersonRule.BOTH and kind is not Kind.RELOCK)


def current_setting() -> LockdownSetting:
    """Return the settings of the tenant in scope, or an unsaved row with the defaults."""
    return LockdownSetting.objects.first() or LockdownSetting()
