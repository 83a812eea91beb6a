"""How far a job, one of its rows and one of its requests have come."""

from enum import Enum

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class JobState(TextChoices):
    """draft -> mapped -> checked -> (waiting ->) running -> done | stopped (can go on).

    mapped: the rows are being found out. waiting: for its moment. refused: its file is unreadable.
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
    """What a row would do. double: it would create what is there already, by its looks: left out unless a person wants
    it, too.
    """

    CREATE = "create", _("New")
    UPDATE = "update", _("Changed")
    DELETE = "delete", _("Deleted")
    DOUBLE = "double", _("Possible duplicate")
    SAME = "same", _("Unchanged")
    REFUSED = "refused", _("Refused")


class RowState(TextChoices):
    """checked: only looked at. The rest is how far a row to be created or changed has come.

    failed: surely not applied, refused by the service or left out by us; the row says which. kept: nothing was to be
    done about this member, for the reason that the row says.
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
    """open: its request is on the way. reading: its answer was lost, the service's list is read. closed: settled."""

    OPEN = "open", _("Under way")
    READING = "reading", _("Checking result")
    CLOSED = "closed", _("Done")


class Halt(TextChoices):
    """Why a job stopped before its end."""

    NONE = "", ""
    PERSON = "person", _("Stopped by a person.")
    RIGHTS = "rights", _("The person who started it no longer has permission.")
    CONNECTION = (
        "connection",
        _("The service no longer accepts this connection, or a permission or contract is missing."),
    )
    RESTORED = "restored", _("The portal's data was restored from a backup.")
    UNREACHABLE = "unreachable", _("The service could not be reached.")


# What is sent, in this order: what one member gives up is free for the next.
SENDING = (Action.DELETE, Action.UPDATE, Action.CREATE)
# Jobs at which something is still going to happen.
ALIVE = (JobState.WAITING, JobState.RUNNING)
# Rows that surely were not applied: a person may send them again.
NOT_APPLIED = (RowState.FAILED, RowState.STOPPED)


class NextStep(Enum):
    """What came of looking for rows to send."""

    SENT = "a request was recorded"
    WORK = "something takes calls, or a transaction for each row or part, and is done without holding the job"
    LATER = "rows wait for calls, for what is under way, or for another job's request about the same members"
    NOTHING = "no row waits"
