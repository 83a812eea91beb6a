"""The table of intents: one row for each request of staff to the service, written before anything is sent."""

import hashlib

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accessapi.operations import Delivery
from portal.domain.intents.states import FINAL, UNDER_WAY, Reason, State
from tenants.models import SupportSession, TenantModel
from tenants.vault import EncryptedBytes, EncryptedJSON
from tenants.wording import Sentence, SentenceField


class Intent(TenantModel):
    """A request to the service: its content, its requester and its progress. `tenant` and `nonce` identify it."""

    nonce = models.CharField(max_length=64)
    operation = models.CharField(max_length=40)
    delivery = models.CharField(max_length=10)
    # The target, for ordering and for pages: "member:M1", "pass_controller:D1", or empty for something new.
    target = models.CharField(max_length=140, blank=True)
    title = SentenceField()
    # The title without personal names, which must be erasable (`actions.erase`). Empty: same as the title.
    audit_title = SentenceField(blank=True, default="", db_default="")
    path = models.JSONField(default=dict)
    body = EncryptedJSON(null=True)
    # The mirror's data at the time of the request: compared with a later reading when the answer was lost.
    snapshot = EncryptedJSON(null=True)

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    support_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT, related_name="+")
    # The portal sends it automatically after a request of `by`: the audit log names the portal.
    automatic = models.BooleanField(default=False, db_default=False)
    permission = models.CharField(max_length=40)
    priority = models.SmallIntegerField()
    queue = models.CharField(max_length=12)

    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    reason = models.CharField(max_length=20, choices=Reason, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())
    deadline = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True, db_default=Now())
    rung_at = models.DateTimeField(null=True)
    # The claiming process's token, so that only this process records the answer.
    claim = models.UUIDField(null=True)
    claimed_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    polls = models.PositiveIntegerField(default=0)

    request_id = models.CharField(max_length=200, blank=True)
    # The last status that the service returned for the request, verbatim, even if unknown to the portal.
    request_status = models.CharField(max_length=100, blank=True)
    # The answer without secrets: IDs, names, counts, and later readings.
    result = models.JSONField(default=dict)
    http_status = models.PositiveSmallIntegerField(null=True)
    error_code = models.CharField(max_length=20, blank=True)
    error_detail = models.TextField(blank=True)
    resolved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "nonce"], name="intents_one_per_nonce")]
        indexes = [
            models.Index(fields=["due_at"], name="intents_due", condition=Q(due_at__isnull=False)),
            models.Index(fields=["claimed_at"], name="intents_claimed", condition=Q(state=State.SENDING)),
            models.Index(fields=["deadline"], name="intents_deadline", condition=Q(state=State.QUEUED)),
            models.Index(fields=["tenant", "target", "id"], name="intents_target"),
            models.Index(
                fields=["tenant", "operation", "id"],
                name="intents_under_way",
                condition=Q(state__in=[state.value for state in UNDER_WAY]),
            ),
            models.Index(fields=["tenant", "-id"], name="intents_newest"),
            models.Index(
                fields=["tenant", "-id"],
                name="intents_open",
                condition=Q(state__in=[*(state.value for state in UNDER_WAY), State.UNCERTAIN.value]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.state})"

    @property
    def summary(self) -> Sentence | str:
        """Return the title for the audit log, from which nothing can ever be removed."""
        return self.audit_title or self.title

    @property
    def asked_by(self) -> str:
        """Return the requester's name for pages."""
        return str(_("The portal")) if self.automatic else str(self.by)

    @property
    def is_final(self) -> bool:
        """Return whether the state can no longer change automatically.

        An uncertain intent is still checked while it is due.
        """
        return self.state in FINAL and self.due_at is None

    @property
    def is_physical(self) -> bool:
        return self.delivery == Delivery.PHYSICAL

    @property
    def is_lock(self) -> bool:
        """Return whether this locks a door: safe to repeat, unless a newer command exists for the door."""
        return self.is_physical and (self.body or {}).get("control") == "lock"


class Enclosure(TenantModel):
    """The image that an intent sends as its body, in a separate table so that lists do not load it.

    It is stored encrypted until the intent was sent (`applying.apply_transition`), and is never sent or shown
    afterwards.
    """

    intent = models.OneToOneField(Intent, on_delete=models.CASCADE, related_name="enclosure")
    content = EncryptedBytes()
    content_type = models.CharField(max_length=40)

    def __str__(self) -> str:
        return f"{self.content_type} of {self.intent_id}"


def target_of(kind: str, identifier: object) -> str:
    """Return the name of a thing of the service in requests and the audit log: `member:M1`.

    An ID longer than 120 characters is replaced by its digest.
    """
    name = str(identifier)
    return f"{kind}:{name if len(name) <= 120 else hashlib.sha256(name.encode()).hexdigest()}"
