"""Models of webhooks: a tenant's settings with their random tokens, and the notifications of the service."""

import hashlib
import secrets

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from tenants.models import TenantModel
from tenants.vault import EncryptedText


class Webhook(TenantModel):
    """A tenant's webhook: its address and secret, the requested settings, and its health.

    - It is found by `token_digest`, the SHA-256 of the address's token, so the table does not reveal the address.
    - `former_digest` and `former_secret`: the previous address and secret, accepted until `former_until` for
      notifications that are already on their way (null: the end is not known yet).
    - `set_at`: when the service confirmed the present settings.
    - `last_received_at`: the last notification with a valid signature. `lost_at`: the last one whose body was lost; the
      log is read once after it. `tested_at`: the start of a test that waits for a notification.
    """

    class Working(models.TextChoices):
        OFF = "off", _("Off")
        WAITING = "waiting", _("On, no notification yet")
        WORKING = "working", _("Working")
        SILENT = "silent", _("Notifications stopped")
        LOSSY = "lossy", _("Missing notifications")

    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT)
    token = EncryptedText()
    token_digest = models.BinaryField(max_length=32, unique=True)
    former_digest = models.BinaryField(max_length=32, unique=True, null=True)
    secret = EncryptedText(null=True)
    former_secret = EncryptedText(null=True)
    former_until = models.DateTimeField(null=True)
    is_on = models.BooleanField(default=False)
    categories = ArrayField(models.TextField(), default=list)
    set_at = models.DateTimeField(null=True)

    last_received_at = models.DateTimeField(null=True)
    lost_at = models.DateTimeField(null=True)
    tested_at = models.DateTimeField(null=True)
    missed = models.PositiveIntegerField(default=0)
    missed_at = models.DateTimeField(null=True)
    # Notifications arrive without naming their records, so missing ones cannot be counted.
    lacks_record_ids = models.BooleanField(default=False, db_default=False)
    working = models.CharField(max_length=10, choices=Working.choices, default=Working.OFF)
    working_at = models.DateTimeField(null=True)  # since when notifications work

    # Log records without a notification: history_id -> time of reading. After a while they count as missed.
    unnotified = models.JSONField(default=dict)
    # Records of the requested categories by hour of the week; recalculated regularly.
    rhythm = models.JSONField(default=list)
    rhythm_at = models.DateTimeField(null=True)

    # The next run (null: none) and the last one, and the pause between two readings of the log.
    due_at = models.DateTimeField(null=True)
    last_run_at = models.DateTimeField(null=True)
    log_read_at = models.DateTimeField(null=True)
    pause = models.PositiveSmallIntegerField(default=0)
    # The seconds without a reading that are still needed to make up for earlier readings.
    extra_pause = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="webhooks_webhook_due", condition=Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.working}"


class Notification(TenantModel):
    """A notification with a valid signature, once for each history_id. It is a hint to read the log, not the record.

    `body` is its content without possible secrets. `at` is its time, if that can be read.
    """

    class State(models.TextChoices):
        WAITING = "waiting"  # the log was not read since then
        SHOWN = "shown"  # the same, and shown as a record marked `notified` until the log is read
        READ = "read"  # the record is in the log
        KEPT = "kept"  # the log could not be read, or lacks the record; shown until it has it

    history_id = models.TextField(db_collation="C")
    delivery_id = models.TextField(blank=True, default="", db_collation="C")
    received_at = models.DateTimeField()
    at = models.DateTimeField(null=True)
    body = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "history_id"], name="webhooks_notification_once")]
        indexes = [
            models.Index(
                fields=["tenant", "received_at"], name="webhooks_notification_waiting", condition=~Q(state="read")
            ),
            models.Index(fields=["received_at"], name="webhooks_notification_received"),
        ]

    def __str__(self) -> str:
        return f"{self.history_id}: {self.state}"


def create_token() -> str:
    """Return 43 random characters: the last part of an address, or a webhook secret (at most 64 characters)."""
    return secrets.token_urlsafe(32)


def digest_token(token: str) -> bytes:
    """Return the digest by which an address is found, so that the token is not stored in plain text."""
    return hashlib.sha256(token.encode()).digest()
