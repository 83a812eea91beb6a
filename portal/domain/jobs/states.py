"""The states of a job, of its rows and of its requests."""

from enum import Enum

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class JobState(TextChoices):
    """The states of a job: draft -> mapped -> checked -> (waiting ->) running -> done | stopped (can continue).

    mapped: the rows are being checked. waiting: for its start time. refused: its file is unreadable.
    """

    DRAFT = "draft", _("Map columns")
    MAPPED = "mapped", _("Checking")
    CHECKED = "checked", _("Ready to start")
    WAITING = "waiting", _("Scheduled")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    STOPPED = "stopped", _("Stopped")
    REFUSED = "refused", _("Not readable")


class Action(TextChoices):
    """The actions of a row.

    double: it would create a member that probably exists. It is left out unless a person wants it.
    """

    CREATE = "create", _("New")
    UPDATE = "update", _("Changed")
    DELETE = "delete", _("Deleted")
    DOUBLE = "double", _("Possible duplicate")
    SAME = "same", _("Unchanged")
    REFUSED = "refused", _("Refused")


class RowState(TextChoices):
    """The states of a row. checked: only previewed. The others are the progress of a row to be sent.

    failed: surely not applied, refused by the service or skipped by the portal; the row has the reason. kept: the
    member needed no change, for the reason in the row.
    """

    CHECKED = "checked", _("Checked")
    PENDING = "pending", _("Waiting")
    SENT = "sent", _("Sent")
    SUCCEEDED = "succeeded", _("Done")
    KEPT = "kept", _("Unchanged")
    FAILED = "failed", _("Not applied")
    UNCERTAIN = "uncertain", _("Uncertain")
    STOPPED = "stopped", _("Not sent")


class PartState(TextChoices):
    """The states of a part. open: in progress. reading: its answer was lost, lists are read. closed: settled."""

    OPEN = "open", _("Under way")
    READING = "reading", _("Checking result")
    CLOSED = "closed", _("Done")


class Halt(TextChoices):
    """The reason why a job stopped before its end."""

    NONE = "", ""
    PERSON = "person", _("Stopped by a person.")
    RIGHTS = "rights", _("The person who started it no longer has permission.")
    CONNECTION = (
        "connection",
        _("The service no longer accepts this connection, or a permission or contract is missing."),
    )
    RESTORED = "restored", _("The portal's data was restored from a backup.")
    UNREACHABLE = "unreachable", _("The service could not be reached.")


# Sent in this order, so that values one member gives up are free for the next.
SENDING = (Action.DELETE, Action.UPDATE, Action.CREATE)
# Jobs that will still do something.
ALIVE = (JobState.WAITING, JobState.RUNNING)
# Rows that were surely not applied: a person may send them again.
NOT_APPLIED = (RowState.FAILED, RowState.STOPPED)


class NextStep(Enum):
    """The result of an executor's `send`."""

    SENT = "a request was recorded"
    WORK = "something takes calls, or a transaction for each row or part, and is done without holding the job"
    LATER = "rows wait for calls, for what is under way, or for another job's request about the same members"
    NOTHING = "no row waits"
