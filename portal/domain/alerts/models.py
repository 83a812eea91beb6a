"""Rules that a tenant changed, the alerts, and the progress of their detection."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import pgettext_lazy

from tenants.models import TenantModel

TEXT_MAX = 1000


class Severity(models.IntegerChoices):
    """The severity of an alert. Larger numbers come first in lists."""

    INFO = 1, pgettext_lazy("alert", "Info")
    WARNING = 2, pgettext_lazy("alert", "Warning")
    ALARM = 3, pgettext_lazy("alert", "Alarm")


class Rule(TenantModel):
    """A tenant's change of a kind's default rule, or a rule that it added (`is_added`).

    `values` are numbers by name; `hours` is when it applies, {} for always. `areas` and `doors` are the IDs of where it
    applies; everywhere without any.
    """

    kind = models.CharField(max_length=30)
    is_added = models.BooleanField(default=False)
    is_on = models.BooleanField()
    severity = models.PositiveSmallIntegerField(choices=Severity.choices)
    values = models.JSONField(default=dict)
    hours = models.JSONField(default=dict)
    areas = ArrayField(models.TextField(), default=list)
    doors = ArrayField(models.TextField(), default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind"], condition=Q(is_added=False), name="alerts_one_default_rule_a_kind"
            )
        ]

    def __str__(self) -> str:
        return self.kind


class Alert(TenantModel):
    """One fact that needs attention. `times` counts how often it happened.

    `subject` is written like audit targets ("member:M1"). `facts` are put into words by the kind when shown, and
    contain no names of people. The fact is over since `ended_at`. A person is assigned since `taken_at`, and closed the
    alert at `closed_at`. `weight` orders lists: the severity, or 0 once it is closed.
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

    @property
    def door_id(self) -> str:
        """Return the ID of the door where the alert began; empty if it is about something else."""
        return "" if self.subject.startswith("key:") else str(self.facts.get("device") or "")


class AlertRecord(TenantModel):
    """A log record of an alert. A record belongs to at most one alert of a kind, even if it is reported twice."""

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
    """A person's note on an alert."""

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="notes")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    text = models.TextField()

    def __str__(self) -> str:
        return self.text


class DetectionState(TenantModel):
    """The progress of a tenant's detection. The row is locked by each process that writes the tenant's alerts.

    `since`: older records raise no alerts. `behind` holds, by kind, the first key and the oldest moment of records that
    failed when they arrived; the next check repeats them. `woken_at`: a worker started the check that is due since
    `due_at`.
    """

    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT)
    since = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(db_default=Now())
    woken_at = models.DateTimeField(null=True)
    behind = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="alerts_detection_due")]

    def __str__(self) -> str:
        return f"{self.tenant_id}"
