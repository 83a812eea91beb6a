"""Check a file row by row against the mirror and store the result. Nothing is sent."""

import itertools
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction

from portal.base.files import file_limits
from portal.base.files.file_limits import FileFault
from portal.base.timers.clock import ClockTime
from portal.domain.jobs.models import Job, Row
from portal.domain.jobs.row_storage import insert_rows, refuse_lines
from portal.domain.jobs.states import Action, JobState
from portal.domain.mirror.fields.members import CARD, CODE, MEMBER_ID
from portal.domain.mirror.row_building import MemberRowBuilder
from portal.imports.columns import ImportRow, read_row
from portal.imports.judging import GroupIndex, RowVerdict, judge, load_known, rights_source
from portal.imports.queries import open_file

LEASE_SECONDS = 60


class CheckTakenOver(Exception):
    """Raised when another worker has taken over the check; this worker then writes nothing more."""


def check(job_id: int) -> None:
    """Check an import whose columns are chosen. If a worker dies, another one starts again from the first row."""
    job = _claim(job_id)
    if job is None:
        return
    try:
        _delete_rows(job)
        _check_rows(job)
    except FileFault as fault:
        _refuse_file(job, fault)
    except CheckTakenOver:
        return


def _claim(job_id: int) -> Job | None:
    token = uuid.uuid4()
    due = Job.objects.filter(pk=job_id, state=JobState.MAPPED, due_at__lte=ClockTime())
    if not due.update(lease=token, due_at=ClockTime() + timedelta(seconds=LEASE_SECONDS)):
        return None
    return Job.objects.select_related("sheet__file").get(pk=job_id, lease=token)


def _extend_lease(job: Job, **values: object) -> None:
    """Extend the lease and write `values`. Raises CheckTakenOver."""
    held = Job.objects.filter(pk=job.pk, state=JobState.MAPPED, lease=job.lease)
    if not held.update(**{"due_at": ClockTime() + timedelta(seconds=LEASE_SECONDS), **values}):
        raise CheckTakenOver


def _delete_rows(job: Job) -> None:
    with transaction.atomic():
        _extend_lease(job, looked_at=0)
        Row.objects.filter(job=job).delete()


def _check_rows(job: Job) -> None:
    _headings, lines = open_file(job.sheet.file)
    if job.sheet.lines is not None:
        wanted = set(job.sheet.lines)
        lines = (each for each in lines if each[0] in wanted)
    groups, twins, done = GroupIndex.load(), Duplicates(job.tenant_id), 0
    give = rights_source(job.sheet.rights, groups)
    while batch := list(itertools.islice(lines, file_limits.BATCH_ROWS)):
        rows = [(line, read_row(cells, job.sheet.columns)) for line, cells in batch]
        facts = load_known(cells for _line, cells in rows)
        verdicts = {line: judge(line, cells, facts, groups, job.sheet.default_group, give) for line, cells in rows}
        stored = twins.refuse(rows, verdicts)
        done += len(batch)
        with transaction.atomic():
            _extend_lease(job, looked_at=done)
            insert_rows(job, [verdict.row for verdict in verdicts.values()])
            refuse_lines(job, stored)
    _extend_lease(job, state=JobState.CHECKED, checked_at=ClockTime(), lease=None, due_at=None)


def _refuse_file(job: Job, fault: FileFault) -> None:
    with transaction.atomic():
        problem = {"word": fault.code, "facts": fault.values}
        held = Job.objects.filter(pk=job.pk, state=JobState.MAPPED, lease=job.lease)
        if held.update(state=JobState.REFUSED, problem=problem, due_at=None, lease=None, finished_at=ClockTime()):
            Row.objects.filter(job=job).delete()


@dataclass
class Duplicates:
    """Finds rows with the same member, code or card.

    All of them are refused and each names another line, because only a person can decide which one is correct.
    """

    tenant_id: int
    _first: dict[bytes | str, int] = field(default_factory=dict)
    _named: set[bytes | str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._reader = MemberRowBuilder(self.tenant_id)

    def refuse(
        self, rows: list[tuple[int, ImportRow]], verdicts: dict[int, RowVerdict]
    ) -> list[tuple[int, tuple[str, str, dict[str, int]]]]:
        """Refuse the duplicates in `verdicts`. Return the lines of earlier batches to refuse, each with its problem."""
        stored = []
        for line, cells in rows:
            for key, field_name, word in self._keys(cells, verdicts[line]):
                first = self._first.setdefault(key, line)
                if first == line:
                    continue
                _refuse_row(verdicts[line], (field_name, word, {"line": first}))
                if key not in self._named:
                    self._named.add(key)
                    problem = (field_name, word, {"line": line})
                    if first in verdicts:
                        _refuse_row(verdicts[first], problem)
                    else:
                        stored.append((first, problem))
        return stored

    def _keys(self, cells: ImportRow, verdict: RowVerdict) -> Iterator[tuple[bytes | str, str, str]]:
        if cells.code:
            yield f"c{cells.code}", CODE.name, "twice_code"
        member_id = verdict.member_id or cells.member_id
        if member_id:
            yield f"m{member_id}", MEMBER_ID.name, "twice_member"
        card = cells.values.get(CARD.name)
        if card:
            yield self._reader.card_fingerprint(card)[:16], CARD.name, "twice_card"


def _refuse_row(verdict: RowVerdict, problem: tuple[str, str, dict[str, int]]) -> None:
    if verdict.action != Action.REFUSED:
        verdict.problems, verdict.notes = [], []
    verdict.action, verdict.body, verdict.old = Action.REFUSED, {}, {}
    if all(field_name != problem[0] or word != problem[1] for field_name, word, _facts in verdict.problems):
        verdict.problems.append(problem)
