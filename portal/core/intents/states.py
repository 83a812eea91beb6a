"""The states of an intent, and how each kind of operation is delivered (see docs/promises.md)."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from accessapi.wire import READ_SECONDS


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
# Refused, or never sent. The service did nothing, but for Reason.REQUEST_FAILED: it may have begun.
NOT_APPLIED = (State.FAILED, State.EXPIRED, State.CANCELLED)
FINAL = tuple(state for state in State if state not in UNDER_WAY)

# From the click to the last moment at which a door command may leave, on the database's clock.
PHYSICAL_SECONDS = 15
# A claim that has not recorded its answer after this long belongs to a process that is gone: an answer may take 30 s,
# and recording it is retried for some seconds.
CLAIM_SECONDS = 40
# How long after its claim a request may still leave: a connection stands within 3 s, and a process that was stopped for
# longer must not write what a sweeper has meanwhile settled or given to another.
WRITE_SECONDS = 5
# A claim whose sign of life is gone (see `tenants.living`) is settled earlier: when nothing may leave any more, where
# nothing is sent again by itself; what is repeated waits until whoever lives all the same has given up the answer.
SILENT_SECONDS = WRITE_SECONDS + 2
REPEAT_SECONDS = WRITE_SECONDS + READ_SECONDS + 1
# How often something that may be repeated (setting, deleting) is sent before a person is asked.
MOST_ATTEMPTS = 5


class Reason(TextChoices):
    """Why an intent ended without the service's own refusal."""

    NONE = "", ""
    TOO_LATE = "too_late", _("More than 15 seconds had passed since the click.")
    RIGHTS = "rights", _("The person who asked for it no longer has the right to.")
    CONNECTION = "connection", _("The connection to the service is not working.")
    LICENCE = "licence", _("No licence key for remote operation is stored.")
    NEWER = "newer", _("A newer command for the same door took its place.")
    BUDGET = "budget", _("The hour's calls to the service are used up.")
    STOPPED = "stopped", _("It was stopped by a person.")
    NOT_SENT = "not_sent", _("The service could not be reached.")
    INVALID = "invalid", _("It is outside the service's limits, so that it was not sent.")
    TIMED_OUT = "timed_out", _("The service did not answer in time.")
    LOST = "lost", _("The connection broke before the answer arrived.")
    FAULT = "fault", _("The service reported a fault of its own.")
    UNREADABLE = "unreadable", _("The service's answer could not be read.")
    PROCESS = "process", _("The sending process ended before the answer was recorded.")
    UNFOLLOWED = "unfollowed", _("The service did not report an outcome in time.")
    REFUSED = "refused", _("The service refused it.")
    ABSENT = "absent", _("Reading afterwards showed that it was not applied.")
    DECIDED = "decided", _("A person decided.")
    STEP_BEFORE = "step_before", _("It waits until the step before it is confirmed.")
    STEP_MISSING = "step_missing", _("The step before it was not done.")
    REQUEST_FAILED = "request_failed", _("The service accepted it and then reported that it failed.")
