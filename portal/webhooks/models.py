"""What a tenant agreed with the service about webhooks, and what the service told through them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from tenants.models import TenantModel
from tenants.vault import EncryptedText


class Webhook(TenantModel):
    """A tenant's webhook: its address and secret, what the service was asked for, and how well it is heard.

    Found by `token_digest`, sha256 of the address's token, so that nobody who reads the table knows the address.
    `former_digest` is an address given up, `former_secret` a secret: accepted until `former_until`, for what is on its
    way when the service confirms the new one (null: until that is known). `set_at` is when the service confirmed what
    is set now. `heard_at` is the last notification that was signed rightly, `told_at` the last of which nothing is left
    but that it came: after it the log is read once. `tested_at`: since when a test waits for a real notification.
    """

    class Working(models.TextChoices):
        OFF = "off", _("Off")
        WAITING = "waiting", _("On, nothing heard yet")
        WORKING = "working", _("Working")
        SILENT = "silent", _("Silent")
        LOSSY = "lossy", _("Losing notifications")

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

    heard_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True)
    tested_at = models.DateTimeField(null=True)
    missed = models.PositiveIntegerField(default=0)
    missed_at = models.DateTimeField(null=True)
    # Notifications come that name no record: which one is missing cannot be told.
    names_no_record = models.BooleanField(default=False, db_default=False)
    working = models.CharField(max_length=10, choices=Working.choices, default=Working.OFF)
    working_at = models.DateTimeField(null=True)  # since when it is so

    # Records of the log that nobody was notified of yet: history_id -> when it was read. Missed after a while.
    unnotified = models.JSONField(default=dict)
    # Records an hour, for each hour of the week, of what is asked for; worked out again now and then.
    rhythm = models.JSONField(default=list)
    rhythm_at = models.DateTimeField(null=True)

    # When what was told is looked at next (null: nobody looks) and was last, and the pause between two readings for it.
    due_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True)
    pause = models.PositiveSmallIntegerField(default=0)
    # Seconds without a reading that are still to pass until those made ahead are earned.
    owed = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="hooks_webhook_due", condition=Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.working}"


class Notification(TenantModel):
    """A notification that was signed rightly, once for each history_id: a hint to read the log, never the record.

    `body` is what it said, without what is or sounds secret. `at` is the moment it tells, when that can be read.
    """

    class State(models.TextChoices):
        WAITING = "waiting"  # the log was not read since
        SHOWN = "shown"  # the same, and it is shown as a record marked `notified` until the log is read
        READ = "read"  # the log has the record
        KEPT = "kept"  # the log could not be read, or has it not: shown until it has

    history_id = models.TextField(db_collation="C")
    delivery_id = models.TextField(blank=True, default="", db_collation="C")
    received_at = models.DateTimeField()
    at = models.DateTimeField(null=True)
    body = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "history_id"], name="hooks_notification_once")]
        indexes = [
            models.Index(
                fields=["tenant", "received_at"], name="hooks_notification_waiting", condition=~Q(state="read")
            ),
            models.Index(fields=["received_at"], name="hooks_notification_received"),
        ]

    def __str__(self) -> str:
        return f"{self.history_id}: {self.state}"
