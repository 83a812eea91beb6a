"""Incidents, their collected items, and exports."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from portal.base.storage.models import StoredFile
from tenants.models import TenantModel
from tenants.sentences import SentenceField

TITLE_MAX, NOTE_MAX = 120, 4000


class Incident(TenantModel):
    """An event from `began_at` to `ended_at` for which evidence is collected.

    `number` counts a tenant's incidents. Open incidents are kept. Closed ones are deleted after the day `keep_until`,
    unless they are on legal hold (`LegalHold`).
    """

    number = models.PositiveIntegerField()
    title = models.CharField(max_length=TITLE_MAX)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(db_default=Now())
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    closed_at = models.DateTimeField(null=True)
    keep_until = models.DateField(null=True)
    # The moment from which it may be deleted.
    due_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="evidence_incident_number_once"),
            models.CheckConstraint(
                condition=Q(closed_at=None) | Q(keep_until__isnull=False), name="evidence_incident_closed_until"
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="evidence_incident_due_at", condition=Q(due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_open(self) -> bool:
        return self.closed_at is None

    @property
    def is_held(self) -> bool:
        """Return whether a hold is active; without a query if the holds were prefetched."""
        return any(hold.is_active for hold in self.holds.all())

    @property
    def is_collecting(self) -> bool:
        """Return whether missing video is still saved: while the incident is open or on legal hold."""
        return self.is_open or self.is_held


class LegalHold(TenantModel):
    """A legal hold on an incident, from `at` to `ended_at`.

    Its reason never changes; further holds are separate rows.

    While a hold is active, the database refuses to remove or change anything of the incident.
    """

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="holds")
    reason = models.CharField(max_length=TITLE_MAX)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by=None) | Q(ended_at__isnull=False, ended_by__isnull=False),
                name="evidence_hold_ended_by",
            )
        ]

    def __str__(self) -> str:
        return self.reason

    @property
    def is_active(self) -> bool:
        return self.ended_at is None


class Item(TenantModel):
    """One piece of evidence for an incident: a copy of what was known when it was added, in `facts`.

    `reference` identifies it within its kind: the record, the camera and moment, the request, or the access check.

    Video and pictures are fetched later. `media` is the state, `due_at` the next try, `trouble` the reason for a
    failure, and `expires_at` when the service deletes them.
    """

    class Kind(models.TextChoices):
        RECORD = "record"
        CLIP = "clip"
        SNAPSHOT = "snapshot"
        REQUEST = "request"
        RIGHTS = "rights"
        NOTE = "note"

    class Media(models.TextChoices):
        NONE = ""
        THERE = "there"
        WANTED = "wanted"
        STORED = "stored"
        NEVER = "never"
        FAILED = "failed"

    # The service may still have it, and no fetch is requested.
    NOT_SAVED = (Media.THERE, Media.FAILED)
    # The service may still have it and the store does not, including items with failing fetches.
    LACKING = (*NOT_SAVED, Media.WANTED)

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="items")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    reference = models.TextField(db_collation="C")
    at = models.DateTimeField()
    # The title of a request; empty for other kinds.
    title = SentenceField(blank=True, default="")
    facts = models.JSONField(default=dict)
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    added_at = models.DateTimeField(db_default=Now())
    media = models.CharField(max_length=10, choices=Media.choices, blank=True, default=Media.NONE)
    file = models.ForeignKey(StoredFile, null=True, on_delete=models.PROTECT, related_name="+")
    due_at = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=60, blank=True, default="")
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["incident", "kind", "reference"], name="evidence_item_once"),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="evidence_item_due_at", condition=Q(due_at__isnull=False)),
            models.Index(
                fields=["tenant", "expires_at"], name="evidence_item_expires_at", condition=Q(expires_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.reference}"


class Export(TenantModel):
    """A signed file of an incident as it was at `requested_at`, in the language of the person who requested it.

    `missing` counts the videos and pictures that are not in it. `key` names the signing key, `manifest` is the SHA-256
    (hex) of its list of files. `stamp` is the result of the time stamp: "" if not configured, "stamped", or the reason
    why it is missing.
    """

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="exports")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField(db_default=Now())
    language = models.CharField(max_length=10)
    items = models.PositiveIntegerField()
    missing = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    trouble = models.CharField(max_length=60, blank=True, default="")
    file = models.ForeignKey(StoredFile, null=True, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=64, blank=True, default="")
    manifest = models.CharField(max_length=64, blank=True, default="")
    stamp = models.CharField(max_length=60, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="evidence_export_due_at", condition=Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return f"export {self.pk} of {self.incident_id}"


class EvidenceSettings(TenantModel):
    """The days for which a tenant keeps closed incidents, and the last incident number, which is never used again."""

    days = models.PositiveIntegerField()
    last_number = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="evidence_settings_once")]

    def __str__(self) -> str:
        return f"{self.days} days"
