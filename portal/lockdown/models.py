"""Lockdowns: an order to lock many doors, which stands until somebody releases it, and what it came to at each door."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.core.intents.models import Intent
from tenants.models import TenantModel


class Scope(models.TextChoices):
    ALL = "all", _("All doors")
    AREA = "area", _("Doors of an area")
    CHOSEN = "chosen", _("Chosen doors")


class Kind(models.TextChoices):
    """What an order does to its doors; the value is the family of its acts in the audit trail.

    An evacuation holds doors unlocked; what locks them again afterwards is an order of its own.
    """

    LOCKDOWN = "lockdown", _("Lockdown")
    EVACUATION = "evacuation", _("Evacuation unlock")
    RELOCK = "relock", _("Locking after an evacuation")


class State(models.TextChoices):
    ASKED = "asked", pgettext_lazy("lockdown", "Waiting for a second person")
    STANDING = "standing", pgettext_lazy("lockdown", "Standing")
    RELEASED = "released", pgettext_lazy("lockdown", "Released")
    REPLACED = "replaced", pgettext_lazy("lockdown", "Replaced by a newer one")
    WITHDRAWN = "withdrawn", pgettext_lazy("lockdown", "Not confirmed, nothing sent")
    DONE = "done", pgettext_lazy("lockdown", "Done")
    REHEARSED = "rehearsed", pgettext_lazy("lockdown", "Rehearsal, nothing sent")


class Lockdown(TenantModel):
    """One order. `started_by` pressed the button; `by` is whose right the tries need: who started or confirmed it, or
    sent again.

    One that needs a second person is asked for until `confirm_by`. While it stands, its timer is `due_at`: null when
    nothing is left to be tried. A rehearsal never stands and has no requests. `nonce` is that of the form.
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
                fields=["tenant", "kind"], name="lockdown_one_stands", condition=Q(state=State.STANDING.value)
            ),
        ]
        indexes = [models.Index(fields=["due_at"], name="lockdown_due", condition=Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.kind}: {self.area_name or self.scope} ({self.state})"

    @property
    def is_evacuation(self) -> bool:
        return self.kind == Kind.EVACUATION


class Forecast(models.TextChoices):
    """What a rehearsal expects of a door; nothing where nothing stands against it."""

    OFFLINE = "offline"
    UNKNOWN = "unknown"
    CALLS = "calls"


class LockdownDoor(TenantModel):
    """A door of an order. `intent` is its latest request, the `attempts`-th one; `before` its state at the start.

    The name is kept, for the door may be gone from the service when somebody reads of it.
    """

    lockdown = models.ForeignKey(Lockdown, on_delete=models.CASCADE, related_name="doors")
    device_id = models.TextField(db_collation="C")
    name = models.TextField(blank=True, default="")
    before = models.CharField(max_length=20, blank=True, default="")
    forecast = models.CharField(max_length=10, choices=Forecast, blank=True, default="")
    intent = models.ForeignKey(Intent, null=True, on_delete=models.PROTECT, related_name="+")
    attempts = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lockdown", "device_id"], name="lockdown_door_once")]

    def __str__(self) -> str:
        return self.name or self.device_id


class Second(models.TextChoices):
    """What a second person has to confirm before anything is sent."""

    NOTHING = "", _("Nothing")
    EVACUATION = "evacuation", _("Evacuation unlock")
    BOTH = "both", _("Evacuation unlock and lockdown")


class LockdownSetting(TenantModel):
    """A tenant's setting, one row: whether doors can be unlocked for an evacuation, which, and what two confirm."""

    evacuation = models.BooleanField(default=False)
    doors = models.JSONField(default=list)
    second = models.CharField(max_length=10, choices=Second, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="lockdown_one_setting")]

    def __str__(self) -> str:
        return f"evacuation: {self.evacuation}, second: {self.second}"

    def needs_second_person(self, kind: Kind) -> bool:
        """Whether an order of this kind waits for a second person. What locks again never does."""
        return self.second == kind.value or (self.second == Second.BOTH and kind is not Kind.RELOCK)


def current_setting() -> LockdownSetting:
    """Return the setting of the tenant in scope; an unsaved one with the defaults while there is none."""
    return LockdownSetting.objects.first() or LockdownSetting()
