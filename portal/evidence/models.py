"""Incidents, what is collected for each of them, the files that hold it, and exports of it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tenants.models import TenantModel
from tenants.vault import EncryptedBytes
from tenants.wording import SentenceField

TITLE_MAX, NOTE_MAX = 120, 4000


class Incident(TenantModel):
    """Something that happened from `began_at` to `ended_at`, and that evidence is collected for.

    `number` counts a tenant's incidents. An open one is kept; a closed one is deleted after the day `keep_until`, but
    not while it is on legal hold (`LegalHold`).
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
    # From when on it is deleted.
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
        """Return whether a hold has not ended yet; without a query where the holds were read with the incident."""
        return any(hold.is_active for hold in self.holds.all())

    @property
    def is_collecting(self) -> bool:
        """Return whether missing video is still saved: in an open incident, and on legal hold."""
        return self.is_open or self.is_held


class LegalHold(TenantModel):
    """A legal hold on an incident, from `at` to `ended_at`: its reason is never changed, and further holds are rows
    beside it. While one has not ended, the database refuses to remove or change anything of the incident.
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


class StoredFile(TenantModel):
    """A file in the tenant's evidence store, encrypted under a `key` of its own (`store.py`).

    `path` is where the store has it; `sha256` (hex) and `size` are of the plain bytes. It is deleted from `delete_at`
    on, which is set until the file is complete and again when nobody needs it.
    """

    path = models.CharField(max_length=100, unique=True)
    key = EncryptedBytes(null=True)
    sha256 = models.CharField(max_length=64, blank=True, default="")
    size = models.BigIntegerField(default=0)
    content_type = models.CharField(max_length=80, blank=True, default="")
    made_at = models.DateTimeField(db_default=Now())
    delete_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["delete_at"], name="evidence_file_delete_at", condition=Q(delete_at__isnull=False))
        ]

    def __str__(self) -> str:
        return self.path


class Item(TenantModel):
    """One thing collected for an incident: a copy of what was known when it was added, in `facts`.

    `reference` names it within its kind: the record, the camera and moment, the request, the question about rights.
    Video and pictures come later: `media` says how far that is, `due_at` when a worker looks next, `trouble` why there
    is none, `expires_at` until when the service has it.
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

    # The service may have it still, and nobody fetches it.
    NOT_SAVED = (Media.THERE, Media.FAILED)
    # The service may have it still, and the store does not: also what a worker has tried to fetch for days.
    LACKING = (*NOT_SAVED, Media.WANTED)

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="items")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    reference = models.TextField(db_collation="C")
    at = models.DateTimeField()
    # What a request was called; empty for everything else.
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
    """A signed file of an incident as it was at `asked_at`, in the language of whoever asked.

    `missing` counts the videos and pictures that it lacks. `key` names the signing key, `manifest` is the SHA-256 (hex)
    of the list of its files. `stamp` says what came of the time stamp: "" none is configured, "stamped", or why there
    is none.
    """

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="exports")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(db_default=Now())
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
    """For how many days a tenant keeps closed incidents, and the number of the last one, which is not used again."""

    days = models.PositiveIntegerField()
    last_number = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="evidence_settings_once")]

    def __str__(self) -> str:
        return f"{self.days} days"
