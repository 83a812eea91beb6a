"""Changes of safety rules that wait for a second person."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import pgettext_lazy

from tenants.models import TenantModel
from tenants.sentences import SentenceField


class State(models.TextChoices):
    """The state of a change. VOID: the setting or the requester's permission changed while it was waiting."""

    WAITING = "waiting", pgettext_lazy("safety", "Waiting for a second person")
    CONFIRMED = "confirmed", pgettext_lazy("safety", "Confirmed and saved")
    REFUSED = "refused", pgettext_lazy("safety", "Declined, nothing was changed")
    WITHDRAWN = "withdrawn", pgettext_lazy("safety", "Cancelled, nothing was changed")
    EXPIRED = "expired", pgettext_lazy("safety", "Expired, nothing was changed")
    VOID = "void", pgettext_lazy("safety", "No longer valid, nothing was changed")


class WaitingChange(TenantModel):
    """A change that loosens a safety rule: the values at the request (`before`) and the wanted ones (`after`).

    `rule` and `subject` name the setting (`portal.domain.safety.rules`). `due_at` is when it expires; null once it
    ended.
    """

    rule = models.CharField(max_length=40)
    subject = models.TextField(db_collation="C", blank=True, default="")
    title = SentenceField()
    before = models.JSONField()
    after = models.JSONField()
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    ended_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "rule", "subject"],
                condition=Q(state=State.WAITING.value),
                name="safety_one_waits_for_a_setting",
            )
        ]
        indexes = [models.Index(fields=["due_at"], name="safety_change_due", condition=Q(due_at__isnull=False))]

    def __str__(self) -> str:
        return str(self.title)
