"""The tables of long jobs with their states, and the fast writing of many rows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django.conf import settings
from django.db import connection as database
from django.db import models
from django.db.models import TextChoices
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from portal.base.storage.models import StoredFile
from portal.domain.intents.models import Intent
from portal.domain.people.models import Member
from tenants.models import SupportSession, TenantModel
from tenants.sentences import SentenceField
from tenants.vault import EncryptedJSON


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

    double: it would create a member that probably exists. It is left out unless a person wants it. refused: it failed
    the check; the file has to be corrected.
    """

    CREATE = "create", _("New")
    UPDATE = "update", _("Changed")
    DELETE = "delete", _("Deleted")
    DOUBLE = "double", _("Possible duplicate")
    SAME = "same", _("Unchanged")
    REFUSED = "refused", _("Needs correction")


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
    PERSON = "person", _("Stopped by staff")
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


class Job(TenantModel):
    """One job. `kind` is a registered kind (`kinds.py`), `options` are that kind's own, without secrets.

    `part_rows` and `part_bytes` shrink when the service finds a request too large. `due_at` is the job's timer. `lease`
    excludes a worker of the dry run that was replaced; `reading_until` is the same for a worker that reads members.
    `checked_rows` counts the rows that a dry run has checked, `reads` the single reads made. `size`: the members that a
    job was opened for; `unchanged`: the chosen members left out because nothing would change. `starts_at`: when a
    scheduled job starts. `headings`: the columns of the cells in its rows. Personal data is erased (`erased_at`) some
    time after `last_end`, the latest time that a row is about.
    """

    kind = models.CharField(max_length=20)
    title = SentenceField(blank=True, default="")
    options = models.JSONField(default=dict)
    permission = models.CharField(max_length=40)
    retry_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="retries")
    undo_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="undone_by")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    support_session = models.ForeignKey(SupportSession, null=True, on_delete=models.PROTECT, related_name="+")
    language = models.CharField(max_length=10, default="en")

    state = models.CharField(max_length=10, choices=JobState, default=JobState.DRAFT)
    halt = models.CharField(max_length=12, choices=Halt, blank=True, default="")
    # Why it cannot run, as a code with facts.
    problem = models.JSONField(default=dict)
    headings = EncryptedJSON(null=True)
    checked_rows = models.PositiveIntegerField(default=0)
    size = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    part_rows = models.PositiveIntegerField(default=0)
    part_bytes = models.PositiveIntegerField(default=0)

    created_at = models.DateTimeField(db_default=Now())
    checked_at = models.DateTimeField(null=True)
    starts_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    stop_requested = models.BooleanField(default=False)
    due_at = models.DateTimeField(null=True)
    lease = models.UUIDField(null=True)

    reads = models.PositiveIntegerField(default=0)
    reading_until = models.DateTimeField(null=True)
    # When reading for the next request began, and until when there are no API calls for it.
    reading_since = models.DateTimeField(null=True)
    blocked_until = models.DateTimeField(null=True)

    last_end = models.DateTimeField(null=True)
    erased_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-id"], name="jobs_newest"),
            models.Index(fields=["due_at"], name="jobs_due", condition=models.Q(due_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}: {self.state}"


class Part(TenantModel):
    """Up to 1,000 rows in one bulk request. `ordinal` and the job identify its intent: none is ever sent twice.

    `readings` counts complete lists read since the answer was lost, `read_until` is when the last of them began.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="parts")
    ordinal = models.PositiveIntegerField()
    action = models.CharField(max_length=10, choices=Action)
    rows = models.PositiveIntegerField()
    intent = models.ForeignKey(Intent, null=True, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=8, choices=PartState, default=PartState.OPEN)
    # The service has finished the request, so one later reading shows everything that it did.
    ended = models.BooleanField(default=False)
    readings = models.PositiveSmallIntegerField(default=0)
    lost_at = models.DateTimeField(null=True)
    read_until = models.DateTimeField(null=True)
    seen = models.IntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "ordinal"], name="jobs_one_part"),
            models.UniqueConstraint(
                fields=["job"], name="jobs_one_part_at_a_time", condition=~models.Q(state=PartState.CLOSED)
            ),
        ]


class Row(TenantModel):
    """One member of a job, or one `line` of a file. `content` is encrypted, and null after it was erased.

    `content` is {"name", "code": for people; "body": the specification's names and values; "old": {field: value} of an
    update}, or what a kind that submits single rows (`row_executor.py`) stores; `intent` is the one submitted for it.
    `attempts` counts the requests that had the row or, for single rows, the intents that were surely not sent.
    `problems` (why refused) and `notes` are [[field, code, {facts}], …] without values; `content` has the values to be
    quoted beside them ("quoted") and the cells that were cleaned ("cleaned": before and after). `read_at`: when this
    job read the member singly, null when it must be read again; `faults` counts the failed readings. `goes_first`: it
    is sent before the other rows of its action, because it frees a card for one of them.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="rows")
    line = models.PositiveIntegerField()
    action = models.CharField(max_length=10, choices=Action)
    state = models.CharField(max_length=10, choices=RowState, default=RowState.CHECKED)
    member_id = models.TextField(blank=True, default="", db_collation="C")
    content = EncryptedJSON(null=True)
    problems = models.JSONField(default=list)
    notes = models.JSONField(default=list)
    code = models.CharField(max_length=20, blank=True, default="")
    detail = models.TextField(blank=True, default="")
    part = models.ForeignKey(Part, null=True, on_delete=models.SET_NULL, related_name="+")
    position = models.PositiveIntegerField(null=True)
    intent = models.ForeignKey(Intent, null=True, on_delete=models.PROTECT, db_index=False, related_name="+")
    attempts = models.PositiveSmallIntegerField(default=0)
    read_at = models.DateTimeField(null=True)
    faults = models.PositiveSmallIntegerField(db_default=0)
    goes_first = models.BooleanField(db_default=False)
    # The job that sends this row again: at most one.
    retried_in = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")

    # The groups' names by ID, set by a table.
    group_names: Mapping[str, str]

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "line"], name="jobs_one_row_a_line")]
        indexes = [
            models.Index(fields=["job", "state", "action", "line"], name="jobs_row_by_state"),
            models.Index(fields=["part", "position"], name="jobs_row_of_part", condition=models.Q(part__isnull=False)),
            models.Index(fields=["intent"], name="jobs_row_of_intent", condition=models.Q(intent__isnull=False)),
            models.Index(fields=["job"], name="jobs_row_first", condition=models.Q(goes_first=True)),
            # Past and pending jobs of a member, newest first.
            models.Index(fields=["tenant", "member_id", "-id"], name="jobs_row_of_member"),
        ]

    def __str__(self) -> str:
        return f"{self.job_id}/{self.line}: {self.state}"


class ExportPart(TenantModel):
    """A part of a job's file (`portal.domain.jobs.file_executor`): `rows` rows, and `place`, their end position.

    `file` has its content, compressed; `size` is its length before.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, db_index=False, related_name="+")
    number = models.PositiveIntegerField()
    rows = models.PositiveIntegerField()
    size = models.PositiveIntegerField()
    place = models.JSONField(null=True)
    last = models.BooleanField()
    file = models.ForeignKey(StoredFile, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="jobs_one_exportpart")]

    def __str__(self) -> str:
        return f"{self.job_id}: part {self.number} of {self.rows} rows"


class Suspension(TenantModel):
    """The end of use that a suspension set for a member, and the end before it (`portal.domain.jobs.suspensions`).

    It is deleted with the member, in the database, because the mirror deletes members in SQL.
    """

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    member = models.ForeignKey(Member, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    ends_at = models.DateTimeField()
    former_end = models.DateTimeField(null=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    why = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["member", "ends_at"], name="jobs_suspension_once")]
        indexes = [models.Index(fields=["tenant", "member", "ends_at"], name="jobs_suspension_of")]

    def __str__(self) -> str:
        return f"{self.member_id} {self.ends_at:%Y-%m-%d %H:%M}"


_INSERT = """
INSERT INTO jobs_row (tenant_id, job_id, line, action, state, member_id, content, problems, notes,
                      code, detail, attempts)
SELECT %s, %s, line, action, %s, member_id, content, problems::jsonb, notes::jsonb, '', '', 0
FROM unnest(%s::int[], %s::text[], %s::text[], %s::bytea[], %s::text[], %s::text[])
     AS new (line, action, member_id, content, problems, notes)
"""

_REFUSE = """
UPDATE jobs_row r
SET action = %s, notes = '[]'::jsonb,
    problems = CASE WHEN r.action = %s THEN r.problems || bad.problem::jsonb ELSE bad.problem::jsonb END
FROM unnest(%s::int[], %s::text[]) AS bad (line, problem)
WHERE r.tenant_id = %s AND r.job_id = %s AND r.line = bad.line
"""

_REWRITE = """
UPDATE jobs_row r SET content = new.content
FROM unnest(%s::bigint[], %s::bytea[]) AS new (id, content)
WHERE r.tenant_id = %s AND r.job_id = %s AND r.id = new.id
"""


@dataclass
class NewRow:
    """A row to store: see `models.Row` for its fields."""

    line: int
    action: Action
    member_id: str
    content: dict[str, Any]
    problems: Sequence[Any] = field(default_factory=list)
    notes: Sequence[Any] = field(default_factory=list)


def insert_rows(job: Job, rows: Sequence[NewRow]) -> None:
    """Store a batch of rows."""
    values = [
        (row.line, str(row.action), row.member_id, _encrypt(job, row.content), _json(row.problems), _json(row.notes))
        for row in rows
    ]
    _execute(_INSERT, [job.tenant_id, job.pk, str(RowState.CHECKED)], values)


def refuse_lines(job: Job, problems: Iterable[tuple[int, tuple[str, str, dict[str, Any]]]]) -> None:
    """Refuse stored lines, each with a problem."""
    _execute(_REFUSE, [str(Action.REFUSED)] * 2, [(n, _json([problem])) for n, problem in problems], job)


def rewrite_rows(job: Job, rows: Sequence[Row]) -> None:
    """Replace the contents of stored rows."""
    _execute(_REWRITE, [], [(row.pk, _encrypt(job, row.content)) for row in rows], job)


def _execute(statement: str, before: list[Any], rows: Sequence[tuple[Any, ...]], job: Job | None = None) -> None:
    """Run a statement on rows, passed as one array per column. `job` is added as its last arguments."""
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        with database.cursor() as cursor:
            cursor.execute(statement, [*before, *columns, *([job.tenant_id, job.pk] if job else [])])


def _encrypt(job: Job, content: Any) -> Any:
    field: Any = Row._meta.get_field("content")
    return field.seal(job.tenant_id, content).data


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else "[]"
