"""The kinds of jobs. An area of work registers its own at start: who may run it, how it is named, and what is looked at
right before its rows leave.

A job is a promise made when somebody looked at its rows; it is kept later,
sometimes much later. `decide_rows` is where a
kind compares what it promised with what is so now,
and `rows_to_read`/`read_member` how it finds out what only single reads tell.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from portal.core.budget.priorities import Priority
from portal.core.intents.models import Intent
from portal.core.intents.recording import Requester
from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import NextStep
from portal.core.mirror.models import Member
from portal.core.mirror.single_reads import read_member
from tenants.models import Connection
from tenants.roles import Permission
from tenants.wording import Sentence, coded_sentence

Facts = Mapping[str, Any]
_ROWS = gettext_lazy("rows")
FieldChange = tuple[str, str, str]


@dataclass(frozen=True)
class Send:
    """Send `body` (names and values of the specification, without the ID); `old` are the values it replaces.

    `note_code`: a stable word for what is worth knowing about the row, also after it was sent; so for the others below.
    """

    body: dict[str, Any]
    old: dict[str, Any]
    note_code: str = ""


@dataclass(frozen=True)
class Skip:
    """Leave the row out and report it: a stable word (`portal.core.jobs.reason_texts`, or the kind's own) with its
    facts."""

    reason_code: str
    facts: dict[str, Any] = field(default_factory=dict)
    field: str = ""
    note_code: str = ""


@dataclass(frozen=True)
class LeaveUnchanged:
    """Leave the member as is because that is what was asked for: neither done nor failed. `reason_code` says why."""

    reason_code: str
    note_code: str = ""


@dataclass(frozen=True)
class AlreadyApplied:
    """The member has the wanted values: nothing needs to be sent, and the row is done. `reason_code` says so."""

    reason_code: str = "already"
    note_code: str = ""


RowDecision = Send | Skip | LeaveUnchanged | AlreadyApplied


@dataclass(frozen=True)
class Wait:
    """Ask for the row later: `reason_code` says what has to be known first."""

    reason_code: str
    field: str = ""


@dataclass(frozen=True)
class FilePiece:
    """The next `rows` of a file that a job writes, as they stand in it. `end_position` is where it ends, `is_last`
    for none after
    it.
    """

    body: bytes
    rows: int
    end_position: Any
    is_last: bool


class Executor(Protocol):
    """How a job is worked off: a module. `wait` and `send` are called with the job's row locked, `work` without."""

    def wait(self, job: Job) -> timedelta | None: ...
    def send(self, job: Job) -> NextStep: ...
    def work(self, job_id: int) -> None: ...


@dataclass(frozen=True)
class AuditDescription:
    """An act with a job as the audit trail has it: `facts` are added to what it keeps of the act."""

    action: str
    target: str
    summary: Sentence | str
    facts: Facts = field(default_factory=dict)


def _read_member(connection: Connection, member_id: str) -> None:
    read_member(connection, member_id, Priority.JOBS)


@dataclass(frozen=True)
class JobKind:
    """What makes jobs of one kind different.

    - `permission`: who may see and run them, unless a job names another; `family`: how audit trail and intents call it.
    - `executor`: how they are worked off: `bulk.py` by the thousand, `row_executor.py` one by one, `file_executor.py`
    into a file.
    - `title_of(job)`: its name, worded when somebody reads it; by default the title it was opened with.
    - `describe_for_audit(job, act)`: what the audit trail says of an act with it,
    where that is not `family`.`act` on the job itself.
    - `page_address(job)`: the address of its page; by default the one of all jobs.
    - `decide_rows(job, rows)`: right before rows are sent,
    in the same transaction and without calls: what to do with a row
      now, by its primary key. Rows that it does not name are sent as they stand.
    - `rows_to_read(job, rows)`: primary keys of those rows whose member must be read singly first,
    as the mirror knows it.
    - `read_member(connection, member_id)`: the one call that makes the mirror know; raises the client's error tree.
    - `is_applied(row,
    member)`: whether a member as listed after a lost answer shows the row's values; None: no telling.
    - `changes(row)`: (field, old, new) in words, secrets masked; by default the plain fields.
    - `reason_texts`: sentences for the kind's own reasons, each given its facts.
    - `field_label(field)`: a name of the kind's own for a field that a reason is about; empty for the usual one.
    - `check(job_id)`: a worker's part in finding out the rows of a `mapped` job (the dry run of a file).
    - `can_undo`: whether the former values can be put back by another job.
    - `has_requests`: False for jobs that only read (`rows_to_read`), and cost nothing else.
    - `on_started(job, by)`: what else belongs to starting a job, in the same
    transaction.
    - `ask(job, row)`: for `row_executor.py`: record the one intent that does what a row wants, in the transaction that
      it is called
    in.
    - `read_piece(job,
    end_position)`: for `file_executor.py`: read what comes after `end_position` in the job's file; None is its
    beginning.
    - `describe_row(row)`: what is to be said about what came of a row that was asked for singly.
    - `unit`: what its progress counts; `state_labels`: its names of what came of rows,
    where they are not those of all jobs.
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
    """Make a kind known. A name belongs to one kind: a second one is a mistake."""
    if kind.name in _kinds:
        raise ValueError(f"the kind {kind.name} is registered already")
    _kinds[kind.name] = kind


def kind_of(job: Job) -> JobKind:
    return _kinds[job.kind]


def kind_named(name: str) -> JobKind:
    return _kinds[name]


def page_address(job: Job) -> str:
    """The address of a job's page. What can be done with it hangs beneath: progress/, stop/, and so on."""
    own = kind_of(job).page_address
    return own(job) if own is not None else reverse("changes:page", args=[job.tenant.slug, job.pk])


def describe_for_audit(job: Job, act: str) -> AuditDescription:
    """What the audit trail says of an act with a job."""
    kind = kind_of(job)
    action = f"{kind.family}.{act}"
    return kind.describe_for_audit(job, act) or AuditDescription(
        action, f"{kind.family}:{job.pk}", coded_sentence(action, job=kind.title_of(job))
    )


def kinds_in_family(family: str) -> list[str]:
    """The kinds of a family."""
    return [kind.name for kind in _kinds.values() if kind.family == family]
