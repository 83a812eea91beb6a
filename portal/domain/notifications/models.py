"""People's notification settings, the tenant's web addresses, and messages to both."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext, pgettext_lazy

from portal.domain.alerts.models import Severity
from tenants.models import TenantModel
from tenants.vault import EncryptedText

NAME_MAX = 60
# The answer of messages to people who may no longer receive them.
NO_PERMISSION = "no permission"
# The answer of messages that may have been sent before the data was restored from a backup.
RESTORED = "restored"


class NotificationSettings(TenantModel):
    """A person's settings: the lowest severity for e-mail (0: none), and their working hours ({}: none).

    Within working hours they get no e-mail, because they watch the portal then.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    least = models.PositiveSmallIntegerField()
    hours = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "user"], name="notifications_one_settings_a_person")]

    def __str__(self) -> str:
        return f"{self.user_id}"


class AlertRecipients(TenantModel):
    """The recipients of a rule's alerts: these roles and people. Without a row: everyone who may view alerts."""

    kind = models.CharField(max_length=30)
    roles = ArrayField(models.TextField(), default=list)
    people = ArrayField(models.BigIntegerField(), default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "kind"], name="notifications_recipients_of_a_rule")]

    def __str__(self) -> str:
        return self.kind


class WebAddress(TenantModel):
    """A web address of the tenant. Alerts from a severity on are posted to it, signed with `secret`."""

    class Shape(models.TextChoices):
        """The format of the posted JSON."""

        TEXT = "text", _("Text (Slack and others)")
        CARD = "card", _("Card (Microsoft Teams)")
        LINE_WORKS = "line_works", _("LINE WORKS (Incoming Webhook)")

    name = models.CharField(max_length=NAME_MAX)
    url = EncryptedText()
    secret = EncryptedText()
    shape = models.CharField(max_length=10, choices=Shape.choices, default=Shape.TEXT)
    least = models.PositiveSmallIntegerField(choices=Severity.choices, default=Severity.WARNING)
    language = models.CharField(max_length=5)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="notifications_one_address_a_name")]

    def __str__(self) -> str:
        return self.name


class State(models.TextChoices):
    """The state of a message."""

    WAITING = "waiting", pgettext_lazy("message", "Waiting")
    SENDING = "sending", pgettext_lazy("message", "Sending")
    SENT = "sent", pgettext_lazy("message", "Sent")
    UNCERTAIN = "uncertain", pgettext_lazy("message", "Uncertain, may have been sent")
    FAILED = "failed", pgettext_lazy("message", "Not sent")


class OutgoingMessage(TenantModel):
    """A message to one person by e-mail, or to one web address, sent at most once (decision 93).

    `kind` is the sender's (`outbox.MessageKind`), `subject` the ID of the row that it is about. No recipient gets
    two messages of a kind about the same row. Without a subject it is a test. `not_before` is the time of the next try,
    `due_at` when a timer checks it again (null: never). If a try began at `claimed_at` and did not end in time, the
    result is uncertain, and it is not sent again.
    """

    kind = models.CharField(max_length=20)
    subject = models.BigIntegerField(null=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    address = models.ForeignKey(WebAddress, null=True, on_delete=models.CASCADE, related_name="messages")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    created_at = models.DateTimeField(db_default=Now())
    not_before = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(null=True, db_default=Now())
    claimed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    answer = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind", "subject", "user"], name="notifications_each_person_once"
            ),
            models.UniqueConstraint(
                fields=["tenant", "kind", "subject", "address"], name="notifications_each_address_once"
            ),
            models.CheckConstraint(condition=Q(user=None) ^ Q(address=None), name="notifications_has_one_recipient"),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="notifications_message_due", condition=Q(due_at__isnull=False)),
            models.Index(
                fields=["ended_at"], name="notifications_not_sent", condition=Q(state__in=["failed", "uncertain"])
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.pk}: {self.state}"

    @property
    def state_text(self) -> str:
        """Return the state in words."""
        if self.answer == NO_PERMISSION:
            return pgettext("message", "Not sent: no permission")
        return str(self.get_state_display())

    @property
    def detail(self) -> str:
        """Return the answer of the recipient's server, or another reason that the words of the state do not have."""
        return "" if self.answer == NO_PERMISSION else self.answer

    @property
    def is_problem(self) -> bool:
        """Return True if the message did not arrive, or perhaps not."""
        return self.state in {State.FAILED, State.UNCERTAIN}
