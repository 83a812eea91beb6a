"""The kinds of jobs. Each area of work registers its own at start (`JobKind`).

A job may run long after its preview. `decide_rows` compares what the preview showed with the current values.
`rows_to_read` and `read_member` load what only single reads return.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from portal.domain.budget.priorities import Priority
from portal.domain.intents.models import Intent
from portal.domain.intents.recording import Requester
from portal.domain.jobs.models import Job, NextStep, Row
from portal.domain.people.models import Member
from portal.domain.sync.single_reads import read_member
from tenants.models import Connection
from tenants.roles import Permission
from tenants.sentences import Sentence, coded_sentence

Facts = Mapping[str, Any]
_ROWS = gettext_lazy("rows")
FieldChange = tuple[str, str, str]


@dataclass(frozen=True)
class Send:
    """A decision to send `body` (the specification's names, without the ID); `old` are the values it replaces.

    `note_code`: a code for a note about the row, also shown after it was sent. The other decisions have it, too.
    """

    body: dict[str, Any]
    old: dict[str, Any]
    note_code: str = ""


@dataclass(frozen=True)
class Skip:
    """A decision to leave the row out and report the reason: a code (`portal.domain.jobs.words` or the kind's own)."""

    reason_code: str
    facts: dict[str, Any] = field(default_factory=dict)
    field: str = ""
    note_code: str = ""


@dataclass(frozen=True)
class LeaveUnchanged:
    """A decision to leave the member unchanged, as requested: neither done nor failed. `reason_code` says why."""

    reason_code: str
    note_code: str = ""


@dataclass(frozen=True)
class AlreadyApplied:
    """A decision for a member that has the requested values: nothing is sent, and the row is done."""

    reason_code: str = "already"
    note_code: str = ""


RowDecision = Send | Skip | LeaveUnchanged | AlreadyApplied


@dataclass(frozen=True)
class Wait:
    """A decision to submit the row later: `reason_code` names what must be known first."""

    reason_code: str
    field: str = ""


@dataclass(frozen=True)
class FilePiece:
    """The next `rows` rows of a file that a job writes, encoded in `body`, with their end position."""

    body: bytes
    rows: int
    end_position: Any
    is_last: bool


class Executor(Protocol):
    """A module that runs jobs. `wait` and `send` are called while the job's row is locked, `work` without the lock."""

    def wait(self, job: Job) -> timedelta | None: ...
    def send(self, job: Job) -> NextStep: ...
    def work(self, job_id: int) -> None: ...


@dataclass(frozen=True)
class AuditDescription:
    """The audit log's entry about an action on a job: `facts` are added to those of the action."""

    action: str
    target: str
    summary: Sentence | str
    facts: Facts = field(default_factory=dict)


def _read_member(connection: Connection, member_id: str) -> None:
    read_member(connection, member_id, Priority.JOBS)


@dataclass(frozen=True)
class JobKind:
    """A kind of jobs, with its settings and functions.

    - `permission`: needed to see and run them, unless a job has another one; `family`: their name in audit log and
      intents.
    - `executor`: how they run: `bulk_executor.py`, `row_executor.py` (one by one) or `file_executor.py` (into a file).
    - `title_of(job)`: its title in the reader's language; by default the stored one.
    - `describe_for_audit(job, action)`: the audit log's entry about an action on it, if it is not `family`.`action` on
      the job itself.
    - `page_address(job)`: the URL of its page; by default the page of bulk changes.
    - `decide_rows(job, rows)`: called just before rows are sent, in the same transaction and without API calls. Returns
      decisions by the row's primary key. Rows without a decision are sent unchanged.
    - `rows_to_read(job, rows)`: primary keys of the rows whose member must be read singly first, by the mirror's data.
    - `read_member(connection, member_id)`: reads one member into the mirror; raises the client's errors.
    - `is_applied(row, member)`: whether a member listed after a lost answer has the row's values; None: unknown.
    - `changes(row)`: (field, old, new) in words, secrets masked; by default the plain fields.
    - `reason_texts`: sentences for the kind's own reasons, each called with its facts.
    - `check(job_id)`: a worker's dry run of a `mapped` job's file, which finds its rows.
    - `field_label(field)`: the kind's own label for a field of a reason; "" for the usual one.
    - `can_undo`: whether another job can restore the former values.
    - `has_requests`: False for jobs that only read (`rows_to_read`) and cost nothing else.
    - `on_started(job, by)`: the kind's own part of starting a job, in the same transaction.
    - `submit_row(job, row)`: for `row_executor.py`: record the one intent for a row, in the caller's transaction.
    - `read_piece(job, end_position)`: for `file_executor.py`: read what follows `end_position` in the job's file; None
      is its start.
    - `describe_row(row)`: texts about the outcome of a row that was submitted singly.
    - `unit`: what its progress counts; `state_labels`: its names of row states, if they are not the usual ones.
    """

    name: str
    permission: Permission
    executor: Executor
    family: str = "change"
    title_of: Callable[[Job], Sentence | str] = lambda job: job.title
    describe_for_audit: Callable[[Job, str], AuditDescription | None] = lambda _job, _act: None
    page_address: Callable[[Job], str] | None = None
    decide_rows: Callable[[Job, Sequence[Row]], Mapping[int, RowDecision]] | None = None
    rows_to_read: Callable[[Job, Sequence[Row]], set[int]] | None = None
    read_member: Callable[[Connection, str], None] = _read_member
    is_applied: Callable[[Row, Member], bool | None] | None = None
    changes: Callable[[Row], list[FieldChange]] | None = None
    reason_texts: Mapping[str, Callable[[Facts], str]] = field(default_factory=dict)
    check: Callable[[int], None] = lambda _job_id: None
    field_label: Callable[[str], str] = lambda _field: ""
    can_undo: bool = False
    has_requests: bool = True
    on_started: Callable[[Job, Requester], None] = lambda _job, _by: None
    submit_row: Callable[[Job, Row], Intent | Skip | Wait] | None = None
    read_piece: Callable[[Job, Any], FilePiece] | None = None
    describe_row: Callable[[Row], list[str]] | None = None
    unit: str | Promise = _ROWS
    state_labels: Mapping[str, str | Promise] = field(default_factory=dict)


# Jobs of this family create members: one of them runs at a time, so that the next knows what one created.
SEQUENTIAL_FAMILY = "import"
_kinds: dict[str, JobKind] = {}


def register(kind: JobKind) -> None:
    """Register a kind. Raises ValueError when its name is taken."""
    if kind.name in _kinds:
        raise ValueError(f"the kind {kind.name} is registered already")
    _kinds[kind.name] = kind


def kind_of(job: Job) -> JobKind:
    return _kinds[job.kind]


def kind_named(name: str) -> JobKind:
    return _kinds[name]


def page_address(job: Job) -> str:
    """Return the URL of a job's page. Its actions are below it: progress/, stop/, and so on."""
    own = kind_of(job).page_address
    return own(job) if own is not None else reverse("changes:page", args=[job.tenant.slug, job.pk])


def describe_for_audit(job: Job, action: str) -> AuditDescription:
    """Return the audit log's entry about an action on a job."""
    kind = kind_of(job)
    code = f"{kind.family}.{action}"
    return kind.describe_for_audit(job, action) or AuditDescription(
        code, f"{kind.family}:{job.pk}", coded_sentence(code, job=kind.title_of(job))
    )


def kinds_of_single_rows() -> list[str]:
    """Return the names of the kinds whose rows are sent one by one."""
    return [kind.name for kind in _kinds.values() if kind.submit_row is not None]


def kinds_in_family(family: str) -> list[str]:
    """Return the names of the kinds in a family."""
    return [kind.name for kind in _kinds.values() if kind.family == family]
