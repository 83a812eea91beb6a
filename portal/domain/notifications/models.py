"""People's notification settings, the tenant's web addresses, and each notification of an alert."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.domain.alerts.models import Alert, Severity
from tenants.models import TenantModel
from tenants.vault import EncryptedText

NAME_MAX = 60
# The answer of notifications that may have been sent before the data was restored from a backup.
RESTORED = "restored"


class Wish(TenantModel):
    """A person's settings: the lowest severity for e-mail (0: none), and their working hours ({}: none).

    Within working hours they get no e-mail, because they watch the portal then.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    least = models.PositiveSmallIntegerField()
    hours = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "user"], name="telling_one_wish_a_person")]

    def __str__(self) -> str:
        return f"{self.user_id}"


class Audience(TenantModel):
    """The recipients of a rule's alerts: these roles and people. Without a row: everyone who may view alerts."""

    kind = models.CharField(max_length=30)
    roles = ArrayField(models.TextField(), default=list)
    people = ArrayField(models.BigIntegerField(), default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "kind"], name="telling_one_audience_a_rule")]

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
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="telling_one_address_a_name")]

    def __str__(self) -> str:
        return self.name


class State(models.TextChoices):
    """The state of a notification."""

    WAITING = "waiting", pgettext_lazy("telling", "Waiting")
    SENDING = "sending", pgettext_lazy("telling", "Sending")
    TOLD = "told", pgettext_lazy("telling", "Sent")
    UNCERTAIN = "uncertain", pgettext_lazy("telling", "Uncertain, perhaps sent")
    FAILED = "failed", pgettext_lazy("telling", "Not sent")


class Telling(TenantModel):
    """One alert sent to one person by e-mail, or to one web address, at most once. Without an alert it is a test.

    `not_before` is the time of the next try, `due_at` when a timer checks it again (null: never). If a try began at
    `claimed_at` and did not end in time, the result is uncertain, and it is not sent again (decision 67).
    """

    alert = models.ForeignKey(Alert, null=True, on_delete=models.CASCADE, related_name="tellings")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    address = models.ForeignKey(WebAddress, null=True, on_delete=models.CASCADE, related_name="tellings")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    made_at = models.DateTimeField(db_default=Now())
    not_before = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(null=True, db_default=Now())
    claimed_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    answer = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["alert", "user"], name="telling_each_person_once"),
            models.UniqueConstraint(fields=["alert", "address"], name="telling_each_address_once"),
            models.CheckConstraint(condition=Q(user=None) ^ Q(address=None), name="telling_has_one_recipient"),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="telling_telling_due", condition=Q(due_at__isnull=False)),
            models.Index(fields=["ended_at"], name="telling_not_sent", condition=Q(state__in=["failed", "uncertain"])),
        ]

    def __str__(self) -> str:
        return f"#{self.pk}: {self.state}"
