"""The states of an intent, and how each kind of operation is delivered (see docs/promises.md)."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from accessapi.transport import READ_SECONDS


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
    STOPPED = "stopped", _("Stopped by a person.")
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
    DECIDED = "decided", _("Decided by a person.")
    STEP_BEFORE = "step_before", _("Waiting for the previous step.")
    STEP_MISSING = "step_missing", _("The previous step was not completed.")
    RESTORED = "restored", _("The portal's data was restored from a backup. It may have been sent before.")
    REQUEST_FAILED = "request_failed", _("The service accepted it, then reported a failure.")
