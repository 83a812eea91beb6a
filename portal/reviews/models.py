"""Models of access reviews: the review, its items for each person and area, and the steps of items."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.base.storage.models import StoredFile
from portal.domain.jobs.models import Job
from tenants.models import TenantModel

NOTE_MAX = 300


class State(models.TextChoices):
    """The state of a review: running, closing (the report is being written), then finished; or cancelled."""

    RUNNING = "running", pgettext_lazy("review", "Running")
    CLOSING = "closing", pgettext_lazy("review", "Report is being written")
    FINISHED = "finished", pgettext_lazy("review", "Finished")
    CANCELLED = "cancelled", pgettext_lazy("review", "Cancelled")


class Review(TenantModel):
    """An access review. `nonce` is that of the form that started it.

    `areas` are [{"id", "name"}] at the start; `rules` assign the reviewers (`assigning.py`). While `is_looking`, a
    worker goes through the list of members and has reached the member ID `place`. `listed_at` is the end of the first
    pass, `looked_at` of the latest. `members` and `missing` are the numbers of members at that time, and of members
    whose rights were not loaded. `log_from`: how far back the log was loaded. `due_at` is the worker's timer.

    The report is written in the `language` of the person who finished the review; the worker began at `written_from`,
    and `trouble` is why it could not be saved. `report` is its head, `file` the whole file, `manifest` the SHA-256
    (hex) of its list of files, `key` the signing key.
    """

    nonce = models.UUIDField()
    title = models.CharField(max_length=100)
    areas = models.JSONField()
    rules = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    started_at = models.DateTimeField(db_default=Now())
    due_on = models.DateField()

    is_looking = models.BooleanField(default=True)
    place = models.TextField(blank=True, default="", db_collation="C")
    listed_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)
    members = models.PositiveIntegerField(default=0)
    missing = models.PositiveIntegerField(default=0)
    log_from = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    remind_at = models.DateTimeField(null=True)

    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    language = models.CharField(max_length=10, blank=True, default="")
    written_from = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=20, blank=True, default="")
    report = models.JSONField(null=True)
    file = models.ForeignKey(StoredFile, on_delete=models.PROTECT, null=True, related_name="+")
    manifest = models.CharField(max_length=64, blank=True, default="")
    key = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "nonce"], name="reviews_started_once")]
        indexes = [
            models.Index(fields=["tenant", "-id"], name="reviews_newest"),
            models.Index(fields=["due_at"], name="reviews_due", condition=Q(due_at__isnull=False)),
            models.Index(fields=["remind_at"], name="reviews_remind", condition=Q(remind_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def area_names(self) -> dict[str, str]:
        """Return the areas' names at the start, by ID."""
        return {each["id"]: each["name"] for each in self.areas}


class Decision(models.TextChoices):
    NONE = "", pgettext_lazy("review", "Not decided")
    CONFIRM = "confirm", pgettext_lazy("review", "Confirmed")
    WITHDRAW = "withdraw", pgettext_lazy("review", "To be withdrawn")


class RightStatus(models.TextChoices):
    """The status of a right compared with the start of the review."""

    SAME = "", pgettext_lazy("right", "Unchanged")
    CHANGED = "changed", _("Changed since the review began")
    NONE = "none", _("No longer has this right")
    LEFT = "left", _("No longer in the members list")
    UNREAD = "unread", _("Right not loaded")


class Applied(models.TextChoices):
    """The result of a withdrawal; empty if it has not been started."""

    NOT_YET = "", ""
    SENT = "sent", pgettext_lazy("withdrawal", "In progress")
    WITHDRAWN = "withdrawn", pgettext_lazy("withdrawal", "Withdrawn")
    CHANGED = "changed", pgettext_lazy("withdrawal", "Skipped: right changed")
    REFUSED = "refused", pgettext_lazy("withdrawal", "Not applied")
    KEPT = "kept", pgettext_lazy("withdrawal", "Kept: access to every area")
    UNCERTAIN = "uncertain", pgettext_lazy("withdrawal", "Uncertain")
    STOPPED = "stopped", pgettext_lazy("withdrawal", "Not sent")


class Use(models.TextChoices):
    """The last use of the right according to the log, at the start of the review."""

    AREA = "area", pgettext_lazy("last use", "At this area’s doors")
    NEVER = "never", pgettext_lazy("last use", "None in the log")
    ELSEWHERE = "far", pgettext_lazy("last use", "Longer ago at this area’s doors")


class Item(TenantModel):
    """A person's right to an area at the time when the item was created, and the decision about it.

    `right` is [{"everywhere", "pass"}] and `digest` its digest (`rights.py`). `now_digest` is the right at the last
    check, `decided_digest` the right that was decided: a decision is valid only for that right. `version` counts the
    steps, so that two reviewers never overwrite each other. `is_open`: the item waits for a decision.

    `since_from` and `since_at` limit the time of the right's last change. `granted` are the people who gave it within
    the period, the newest first: [[user, moment]]. `barred` are people who may not decide about it: {user: moment of
    giving it, or "" if it is their own}; `is_barred`: its reviewer is one of them (`assigning.py`).
    """

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False, related_name="+")
    review = models.ForeignKey(Review, on_delete=models.CASCADE, db_index=False, related_name="items")
    area_id = models.TextField(db_collation="C")
    member_id = models.TextField(db_collation="C")
    name = models.TextField()
    name_key = models.TextField(db_collation="C")
    code = models.TextField(blank=True, default="")
    group_id = models.TextField(blank=True, default="", db_collation="C")
    group = models.TextField(blank=True, default="")

    right = models.JSONField()
    digest = models.TextField(db_collation="C")
    now_digest = models.TextField(db_collation="C")
    right_status = models.CharField(max_length=8, choices=RightStatus, blank=True, default="")
    since_from = models.DateTimeField(null=True)
    since_at = models.DateTimeField(null=True)
    use = models.CharField(max_length=8, choices=Use)
    used_on = models.DateField(null=True)
    seen_on = models.DateField(null=True)
    added_at = models.DateTimeField(db_default=Now())
    is_late = models.BooleanField(default=False)

    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, db_index=False, related_name="+"
    )
    granted = models.JSONField(default=list)
    barred = models.JSONField(default=dict)
    is_barred = models.BooleanField(default=False)
    decision = models.CharField(max_length=8, choices=Decision, blank=True, default="")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, db_index=False, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)
    decided_digest = models.TextField(blank=True, default="", db_collation="C")
    note = models.CharField(max_length=NOTE_MAX, blank=True, default="")
    version = models.PositiveIntegerField(default=0)
    is_open = models.BooleanField(default=True)
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")
    applied = models.CharField(max_length=10, choices=Applied, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["review", "member_id", "area_id"], name="reviews_item_once")]
        indexes = [
            models.Index(fields=["review", "name_key", "id"], name="reviews_item_by_name"),
            models.Index(fields=["review", "reviewer", "name_key", "id"], name="reviews_item_of_person"),
            models.Index(
                fields=["review", "reviewer", "name_key", "id"], name="reviews_item_open", condition=Q(is_open=True)
            ),
            # For the counts on every page of a review.
            models.Index(
                fields=["review", "reviewer", "area_id", "is_open", "is_barred", "decision", "right_status", "applied"],
                name="reviews_item_counted",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.area_id}"


class Delegation(TenantModel):
    """An action that delegates items to another reviewer. `items` is their number; their steps refer to it."""

    review = models.ForeignKey(Review, on_delete=models.CASCADE, related_name="delegations")
    nonce = models.CharField(max_length=64)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    to = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    note = models.CharField(max_length=NOTE_MAX, blank=True, default="")
    items = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "nonce"], name="reviews_delegated_once")]

    def __str__(self) -> str:
        return f"{self.by} → {self.to}: {self.items}"


class StepAction(models.TextChoices):
    CONFIRM = "confirm", pgettext_lazy("review", "Confirmed")
    WITHDRAW = "withdraw", pgettext_lazy("review", "Marked for withdrawal")
    UNDO = "undo", pgettext_lazy("review", "Decision undone")
    DELEGATE = "delegate", pgettext_lazy("review", "Delegated")


class Step(TenantModel):
    """Step number `number` of an item. No step is lost or saved twice, even if a press arrives several times."""

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False, related_name="+")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, db_index=False, related_name="steps")
    number = models.PositiveIntegerField()
    action = models.CharField(max_length=8, choices=StepAction)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, db_index=False, related_name="+")
    at = models.DateTimeField()
    note = models.CharField(max_length=NOTE_MAX, blank=True, default="")
    digest = models.TextField(blank=True, default="", db_collation="C")
    delegation = models.ForeignKey(Delegation, on_delete=models.CASCADE, null=True, db_index=False, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "number"], name="reviews_step_once")]

    def __str__(self) -> str:
        return f"{self.item_id}/{self.number}: {self.action}"


class ReminderKind(models.TextChoices):
    """The kinds of mails to reviewers, each sent once for a review."""

    START = "review_start"
    WEEK = "review_week"
    DAY = "review_day"
    OVERDUE = "review_overdue"
