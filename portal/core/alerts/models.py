"""Rules that a tenant changed, the alerts that were found, and how far the tenant was looked at."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import pgettext_lazy

from tenants.models import TenantModel

TEXT_MAX = 1000


class Severity(models.IntegerChoices):
    """How serious an alert is. A larger number stands first in lists."""

    NOTE = 1, pgettext_lazy("alert", "Note")
    WARNING = 2, pgettext_lazy("alert", "Warning")
    ALARM = 3, pgettext_lazy("alert", "Alarm")


class Rule(TenantModel):
    """What a tenant changed of a ready rule. `values` are numbers by name; `hours` when it counts, {} for always."""

    kind = models.CharField(max_length=30)
    is_on = models.BooleanField()
    severity = models.PositiveSmallIntegerField(choices=Severity.choices)
    values = models.JSONField(default=dict)
    hours = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "kind"], name="alerts_one_rule_a_kind")]

    def __str__(self) -> str:
        return self.kind


class Alert(TenantModel):
    """One thing that somebody should look at, however often it came and went meanwhile (`times`).

    `subject` is what it is about, as targets are named ("member:M1"). `facts` are worded by the kind when read, without
    names of people. It is over since `ended_at`; somebody looks after it since `taken_at`, and has dealt with it since
    `closed_at`. `weight` orders lists: the severity, and 0 once it was closed.
    """

    kind = models.CharField(max_length=30)
    subject = models.TextField(db_collation="C")
    severity = models.PositiveSmallIntegerField(choices=Severity.choices)
    weight = models.PositiveSmallIntegerField()
    facts = models.JSONField(default=dict)
    times = models.PositiveIntegerField(default=1)
    began_at = models.DateTimeField()
    last_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    taken_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    taken_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    closed_at = models.DateTimeField(null=True)
    done = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind", "subject"], condition=Q(ended_at=None), name="alerts_one_at_a_time"
            )
        ]
        indexes = [
            models.Index(fields=["tenant", "-weight", "-id"], name="alerts_alert_first"),
            models.Index(fields=["tenant", "kind", "subject", "-id"], name="alerts_alert_latest"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk}"


class AlertRecord(TenantModel):
    """A record of the log behind an alert. A record is behind one alert of a kind, however often it is told."""

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="records")
    kind = models.CharField(max_length=30)
    history_id = models.TextField(db_collation="C")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "kind", "history_id"], name="alerts_record_counted_once")
        ]

    def __str__(self) -> str:
        return self.history_id


class AlertNote(TenantModel):
    """What somebody wrote down about an alert."""

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="notes")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    text = models.TextField()

    def __str__(self) -> str:
        return self.text


class Watch(TenantModel):
    """How far a tenant was looked at: one row, locked by whoever writes its alerts.

    `since`: older records are history, not alerts. `behind` holds, by kind, the first key and the oldest moment of the
    records that could not be looked at when they came: the next look does. `rung_at`: a worker took the look that
    has been due since `due_at`.
    """

    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT)
    since = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(db_default=Now())
    rung_at = models.DateTimeField(null=True)
    behind = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="alerts_watch_due")]

    def __str__(self) -> str:
        return f"{self.tenant_id}"
