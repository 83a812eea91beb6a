"""Models of reports: requested or scheduled reports, and schedules."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from portal.base.storage.models import StoredFile
from tenants.models import TenantModel


class Every(models.TextChoices):
    """How often a schedule creates a report: about the last week or month."""

    WEEK = "week"
    MONTH = "month"


class Schedule(TenantModel):
    """A schedule for a report about each week or month, created at `hour` on the day after it.

    `recipients` are IDs of staff. `kind` and `choices` are those of a report. `language` is that of recipients who have
    not chosen one. `next_at` is the timer. After `ended_at` no more reports are created. `nonce` is that of the form
    that created it.
    """

    nonce = models.UUIDField()
    kind = models.CharField(max_length=20)
    choices = models.JSONField(default=dict)
    every = models.CharField(max_length=5, choices=Every)
    hour = models.PositiveSmallIntegerField(default=7)
    language = models.CharField(max_length=10)
    recipients = models.JSONField(default=list)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(db_default=Now())
    next_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "nonce"], name="reports_scheduled_once")]
        indexes = [models.Index(fields=["next_at"], name="reports_schedule_next", condition=Q(next_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.kind} every {self.every}"


class Report(TenantModel):
    """A report over [since, until). A schedule has one for each period and language of its recipients.

    `by` requested it, or created its schedule. While `due_at` is set, a worker creates it; `tries` counts the attempts,
    and `trouble` is why it failed. `head` is the first page, without names of members or guests. `file` has the first
    lines of its tables for a page; `pdf` and `book` have all of them. `recipients` are the schedule's at creation (IDs
    of staff). `missed` counts the earlier periods in which the schedule could not run. `named_since` is the earliest
    end of a visit whose guest is named in it: the files are deleted with that visit's data (`report_worker`), at
    `files_deleted_at`.
    """

    nonce = models.UUIDField(null=True)
    schedule = models.ForeignKey(Schedule, on_delete=models.PROTECT, null=True, related_name="reports")
    kind = models.CharField(max_length=20)
    choices = models.JSONField(default=dict)
    language = models.CharField(max_length=10)
    since = models.DateTimeField()
    until = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    trouble = models.CharField(max_length=20, blank=True, default="")
    made_at = models.DateTimeField(null=True)
    head = models.JSONField(null=True)
    file = models.ForeignKey(StoredFile, on_delete=models.PROTECT, null=True, related_name="+")
    pdf = models.ForeignKey(StoredFile, on_delete=models.PROTECT, null=True, related_name="+")
    book = models.ForeignKey(StoredFile, on_delete=models.PROTECT, null=True, related_name="+")
    named_since = models.DateTimeField(null=True)
    files_deleted_at = models.DateTimeField(null=True)
    recipients = models.JSONField(default=list)
    missed = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "nonce"], name="reports_asked_once"),
            models.UniqueConstraint(fields=["schedule", "since", "language"], name="reports_one_of_each_period"),
        ]
        indexes = [
            models.Index(fields=["tenant", "-id"], name="reports_newest"),
            models.Index(fields=["due_at"], name="reports_due", condition=Q(due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.since:%Y-%m-%d}"
