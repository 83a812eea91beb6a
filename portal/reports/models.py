"""Reports that were asked for or are due, the schedules by which they are, and to whom each was sent."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from portal.core.notifications.models import State
from portal.evidence.models import StoredFile
from tenants.models import TenantModel


class Every(models.TextChoices):
    """How often a schedule makes a report: of the week or the month before."""

    WEEK = "week"
    MONTH = "month"


class Schedule(TenantModel):
    """Makes a report of each week or month, from its `hour` on the day after, and tells `recipients` (IDs of staff).

    `kind` and `choices` are those of a report, `language` is that in which it is worded. `next_at` is the timer;
    `ended_at`: it makes no more. `nonce` is that of the form that set it up.
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
    """One report over [since, until). A schedule has one of each period.

    `by` asked for it, or set up its schedule. While `due_at` is set a worker makes it; `tries` counts how often one
    began, `trouble` is why none is made. `head` is what is on its first page, without names of members or guests;
    `file` has the first lines of its tables for a page, `pdf` and `book` have all of them to take along. `recipients`
    are the schedule's when it was made (IDs of staff), `missed` counts the periods before this one for which the
    schedule could not run. `named_since` is the earliest end of a guest's visit whose name is in it: the files go when
    that visit's data does (`keeping`), at `files_deleted_at`.
    """

    nonce = models.UUIDField(null=True)
    schedule = models.ForeignKey(Schedule, on_delete=models.PROTECT, null=True, related_name="reports")
    kind = models.CharField(max_length=20)
    choices = models.JSONField(default=dict)
    language = models.CharField(max_length=10)
    since = models.DateTimeField()
    until = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(db_default=Now())
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
            models.UniqueConstraint(fields=["schedule", "since"], name="reports_one_of_each_period"),
        ]
        indexes = [
            models.Index(fields=["tenant", "-id"], name="reports_newest"),
            models.Index(fields=["due_at"], name="reports_due", condition=Q(due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.since:%Y-%m-%d}"


class Sending(TenantModel):
    """A mail about a report to one person, written down before it is sent, so that it is sent once.

    A worker that died meanwhile leaves it `sending`, and nobody sends it again: it may have arrived. `answer` is why it
    did not.
    """

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="sendings")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=10, choices=State, default=State.SENDING)
    answer = models.CharField(max_length=60, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["report", "user"], name="reports_sent_once")]

    def __str__(self) -> str:
        return f"{self.report_id}: {self.user_id}"
