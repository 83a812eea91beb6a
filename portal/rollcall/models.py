"""Models of roll calls in an evacuation: who may be in the building, who was found, by which warden and when."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.domain.presence.people import Certainty
from tenants.models import TenantModel


class RollCall(TenantModel):
    """A roll call. `nonce` is that of the form that started it; `known_at`: until when the log was loaded then."""

    name = models.CharField(max_length=100)
    nonce = models.UUIDField()
    started_at = models.DateTimeField()
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    known_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "nonce"], name="rollcall_started_once")]

    def __str__(self) -> str:
        return self.name


class How(models.TextChoices):
    START = "start", _("Presumed inside")
    LOG = "log", _("Seen since the start")
    HAND = "hand", _("Added by hand")


class ListedPerson(TenantModel):
    """A listed person, as known at the time of listing. `key` is that of `people.PersonInside`."""

    roll_call = models.ForeignKey(RollCall, on_delete=models.CASCADE, related_name="listed")
    key = models.TextField(db_collation="C")
    name = models.CharField(max_length=200)
    belongs = models.TextField(blank=True, default="")
    area = models.TextField(blank=True, default="")
    place = models.TextField(blank=True, default="")
    at = models.DateTimeField(null=True)
    certainty = models.CharField(max_length=8, choices=Certainty, blank=True, default="")
    how = models.CharField(max_length=8, choices=How)
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["roll_call", "key"], name="rollcall_person_once")]

    def __str__(self) -> str:
        return self.name


class PersonStatus(models.TextChoices):
    """The status that a warden sets for a person. OPEN resets it."""

    SAFE = "safe", pgettext_lazy("roll call", "Safe")
    MISSING = "missing", pgettext_lazy("roll call", "Not found")
    OPEN = "open", pgettext_lazy("roll call", "Unaccounted for")


class Tick(TenantModel):
    """A tick. `pressed_at` is the phone's time, `arrived_at` when it arrived, `counts_at` the earlier of both.

    All ticks are kept; the newest of a person counts. `nonce` is that of the press.
    """

    roll_call = models.ForeignKey(RollCall, on_delete=models.CASCADE, related_name="ticks")
    listed = models.ForeignKey(ListedPerson, on_delete=models.CASCADE, related_name="ticks")
    status = models.CharField(max_length=8, choices=PersonStatus)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    pressed_at = models.DateTimeField()
    arrived_at = models.DateTimeField(db_default=Now())
    counts_at = models.DateTimeField()
    nonce = models.UUIDField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "nonce"], name="rollcall_tick_once")]
        indexes = [models.Index(fields=["roll_call", "counts_at", "id"], name="rollcall_ticks_in_order")]

    def __str__(self) -> str:
        return f"{self.status} {self.counts_at:%H:%M:%S}"
