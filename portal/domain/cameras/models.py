"""Cameras that a tenant entered, their pictures and viewings, and the use of the period's limits."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import pgettext_lazy

from portal.domain.intents.models import Intent
from portal.domain.places.models import natural_sort_column
from tenants.models import SupportSession, TenantModel
from tenants.vault import EncryptedBytes, EncryptedText

NAME_MAX, IDENTIFIER_MAX = 60, 200


class Camera(TenantModel):
    """A camera, by the identifier that staff entered: the service has no list of cameras.

    `doors` and `areas` hold the service's identifiers. With `is_intercom` its doors are unlocked beside its picture.
    `is_connected` and `is_streaming` are from operation 32 at `status_at` (None: not loaded yet). `is_missing`: the
    service does not know the identifier. `is_suspect`: it may be unknown, so its status is requested separately.
    `looked_at` is when it was last shown on an open page.
    """

    camera_id = models.CharField(max_length=IDENTIFIER_MAX, db_collation="C")
    name = models.CharField(max_length=NAME_MAX, blank=True, default="")
    name_order = natural_sort_column("name", "camera_id")
    doors = ArrayField(models.TextField(), default=list)
    areas = ArrayField(models.TextField(), default=list)
    is_intercom = models.BooleanField(default=False, db_default=False)
    is_connected = models.BooleanField(null=True)
    is_streaming = models.BooleanField(null=True)
    is_missing = models.BooleanField(default=False)
    is_suspect = models.BooleanField(default=False)
    status_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "camera_id"], name="cameras_camera_once")]
        indexes = [models.Index(fields=["looked_at"], name="cameras_camera_looked_at")]

    def __str__(self) -> str:
        return self.name or self.camera_id


class Picture(TenantModel):
    """A snapshot: of the moment `at`, or the latest one if `at` is None.

    `content` is a JPEG or PNG, `mark` changes with it, `taken_at` is the moment that it shows. `requested_at` is the
    time of the last request. `trouble` is why that failed, a key of TROUBLES or a reason of the mirror; "" if it
    succeeded.
    """

    camera = models.ForeignKey(Camera, on_delete=models.CASCADE, related_name="pictures")
    at = models.DateTimeField(null=True)
    content = EncryptedBytes(null=True)
    mark = models.CharField(max_length=32, blank=True, default="")
    taken_at = models.DateTimeField(null=True)
    requested_at = models.DateTimeField(db_default=Now())
    trouble = models.CharField(max_length=60, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["camera", "at"], name="cameras_picture_once", nulls_distinct=False)
        ]

    def __str__(self) -> str:
        return f"{self.camera_id} {self.at or 'latest'}"


class Viewing(TenantModel):
    """A person's viewing of a camera's video: live, or the recording from `since` to `until`.

    `address` is the secret from the service, valid until `expires_at`. `seconds` of video are reserved for it until
    `ends_at`. They count as used until the service's own count is newer.
    """

    camera = models.ForeignKey(Camera, on_delete=models.CASCADE, related_name="viewings")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    support_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT, related_name="+")
    since = models.DateTimeField(null=True)
    until = models.DateTimeField(null=True)
    address = EncryptedText(null=True)
    expires_at = models.DateTimeField(null=True)
    seconds = models.PositiveIntegerField()
    began_at = models.DateTimeField(db_default=Now())
    ends_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["tenant", "ends_at"], name="cameras_viewing_ends")]

    def __str__(self) -> str:
        return f"{self.camera_id} by {self.by_id}"


class Clip(TenantModel):
    """The requested video of a log record. `at` is the time of the record.

    `address` is the secret that the service returned at `answered_at`. `due_at` is the time of the next request while
    the video is not available, `trouble` the reason why there is none. It was viewed `shown` times, last at `shown_at`;
    each viewing costs a download.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        READY = "ready"
        NEVER = "never"
        FAILED = "failed"

    history_id = models.TextField(db_collation="C")
    at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    camera_name = models.TextField(blank=True, default="")
    address = EncryptedText(null=True)
    answered_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    trouble = models.TextField(blank=True, default="")
    shown = models.PositiveIntegerField(default=0)
    shown_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "history_id"], name="cameras_clip_once")]
        indexes = [models.Index(fields=["due_at"], name="cameras_clip_due", condition=models.Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.history_id}: {self.state}"


class CameraSettings(TenantModel):
    """A tenant's settings: with pictures before and after door commands, or without."""

    pictures_of_commands = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="cameras_settings_once")]

    def __str__(self) -> str:
        return f"pictures of commands: {self.pictures_of_commands}"


class CommandPicture(TenantModel):
    """A moment before or after a door's command. Pictures of the door's cameras are requested from `due_at` on.

    `trouble` is why there is none, as in Picture.
    """

    class Side(models.TextChoices):
        BEFORE = "before", pgettext_lazy("picture", "Before")
        AFTER = "after", pgettext_lazy("picture", "After")

    intent = models.ForeignKey(Intent, on_delete=models.CASCADE, related_name="+")
    device_id = models.TextField(db_collation="C")
    side = models.CharField(max_length=6, choices=Side.choices)
    at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=60, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["intent", "side"], name="cameras_command_picture_once")]
        indexes = [
            models.Index(fields=["due_at"], name="cameras_command_due", condition=models.Q(due_at__isnull=False))
        ]

    def __str__(self) -> str:
        return f"{self.side} {self.intent_id}"


class CameraUsage(TenantModel):
    """The period's totals and limits from operation 29, in the service's own unit (None: unknown)."""

    since = models.DateTimeField(null=True)
    until = models.DateTimeField(null=True)
    streaming_total = models.FloatField(null=True)
    streaming_limit = models.FloatField(null=True)
    download_total = models.FloatField(null=True)
    download_limit = models.FloatField(null=True)
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="cameras_usage_once")]

    def __str__(self) -> str:
        return f"{self.since} – {self.until}"
