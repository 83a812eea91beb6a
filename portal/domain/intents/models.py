"""The table of intents, each a request of staff to the service, and the states of an intent."""

import hashlib

from django.conf import settings
from django.db import models
from django.db.models import Q, TextChoices
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accessapi.operations import Delivery
from accessapi.transport import READ_SECONDS
from tenants.models import SupportSession, TenantModel
from tenants.sentences import Sentence, SentenceField
from tenants.vault import EncryptedBytes, EncryptedJSON


class State(TextChoices):
    QUEUED = "queued", _("Waiting to be sent")
    SENDING = "sending", _("Being sent")
    ACCEPTED = "accepted", _("Accepted, in progress")
    SUCCEEDED = "succeeded", _("Done")
    FAILED = "failed", _("Refused")
    UNCERTAIN = "uncertain", _("Uncertain")
    EXPIRED = "expired", _("Too late, not sent")
    CANCELLED = "cancelled", _("Not sent")


UNDER_WAY = (State.QUEUED, State.SENDING, State.ACCEPTED)
# Refused, or never sent. The service did nothing, except with Reason.REQUEST_FAILED: it may have begun.
NOT_APPLIED = (State.FAILED, State.EXPIRED, State.CANCELLED)
FINAL = tuple(state for state in State if state not in UNDER_WAY)

# From the click to the last moment at which a door command may be sent, on the database's clock.
PHYSICAL_SECONDS = 15
# After this time without a recorded answer, the claim's process has ended: an answer may take 30 s, and recording it is
# retried for some seconds.
CLAIM_SECONDS = 40
# How long after its claim a request may still be sent. Connecting takes up to 3 s. A process that paused longer must
# not send a request that the sweep has settled or given to another process.
WRITE_SECONDS = 5
# A claim whose session lock is gone (see `tenants.postgresql.session_locks`) is settled earlier. If it is not sent
# again: when its process may no longer send. If it is: when that process, should it still run, no longer waits for the
# answer.
LOST_CLAIM_SECONDS = WRITE_SECONDS + 2
LOST_REPEATABLE_CLAIM_SECONDS = WRITE_SECONDS + READ_SECONDS + 1
# How often a repeatable request (set, delete) is sent before a person has to decide.
MAX_ATTEMPTS = 5


class Reason(TextChoices):
    """The reason why an intent is in its state, apart from the service's own text."""

    NONE = "", ""
    TOO_LATE = "too_late", _("More than 15 seconds passed since the click.")
    RIGHTS = "rights", _("The person who requested it no longer has permission.")
    CONNECTION = "connection", _("The connection to the service is not working.")
    LICENCE = "licence", _("No licence key for remote operation is stored.")
    NEWER = "newer", _("Replaced by a newer command for the same door.")
    BUDGET = "budget", _("No API calls left this hour.")
    STOPPED = "stopped", _("Stopped by staff")
    NOT_SENT = "not_sent", _("The service could not be reached.")
    INVALID = "invalid", _("Not sent: outside the service's limits.")
    TIMED_OUT = "timed_out", _("The service did not respond in time.")
    LOST = "lost", _("The connection was lost before the response arrived.")
    FAULT = "fault", _("The service reported an error.")
    UNREADABLE = "unreadable", _("The service's response could not be read.")
    PROCESS = "process", _("Sending was interrupted before the response was recorded.")
    UNFOLLOWED = "unfollowed", _("The service did not report a result in time.")
    REFUSED = "refused", _("Refused by the service.")
    ABSENT = "absent", _("A later check showed that it was not applied.")
    DECIDED = "decided", _("Decided by staff.")
    STEP_BEFORE = "step_before", _("Waiting for the previous step.")
    STEP_MISSING = "step_missing", _("The previous step was not completed.")
    RESTORED = "restored", _("The portal's data was restored from a backup. It may have been sent before.")
    REQUEST_FAILED = "request_failed", _("The service accepted it, then reported a failure.")


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
    woken_at = models.DateTimeField(null=True)
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
    def requested_by(self) -> str:
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


class Attachment(TenantModel):
    """The image that an intent sends as its body, in a separate table so that lists do not load it.

    It is stored encrypted until the intent was sent (`transitions.apply_transition`), and is never sent or shown
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
