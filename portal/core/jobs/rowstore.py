"""Writing and correcting rows by the thousand. Row security forbids COPY into the table: arrays are as quick."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.db import connection as database

from portal.core.jobs.models import Job, Row
from portal.core.jobs.states import Action, RowState

_INSERT = """
INSERT INTO bulk_row (tenant_id, job_id, line, action, state, member_id, content, problems, notes,
                      code, detail, attempts)
SELECT %s, %s, line, action, %s, member_id, content, problems::jsonb, notes::jsonb, '', '', 0
FROM unnest(%s::int[], %s::text[], %s::text[], %s::bytea[], %s::text[], %s::text[])
     AS new (line, action, member_id, content, problems, notes)
"""

_REFUSE = """
UPDATE bulk_row r
SET action = %s, notes = '[]'::jsonb,
    problems = CASE WHEN r.action = %s THEN r.problems || bad.problem::jsonb ELSE bad.problem::jsonb END
FROM unnest(%s::int[], %s::text[]) AS bad (line, problem)
WHERE r.tenant_id = %s AND r.job_id = %s AND r.line = bad.line
"""


_REWRITE = """
UPDATE bulk_row r SET content = new.content
FROM unnest(%s::bigint[], %s::bytea[]) AS new (id, content)
WHERE r.tenant_id = %s AND r.job_id = %s AND r.id = new.id
"""


class New(Protocol):
    """A row to be stored: see `models.Row` for what its parts hold."""

    @property
    def line(self) -> int: ...
    @property
    def action(self) -> Action: ...
    @property
    def member_id(self) -> str: ...
    @property
    def content(self) -> dict[str, Any]: ...
    @property
    def problems(self) -> Sequence[Any]: ...
    @property
    def notes(self) -> Sequence[Any]: ...


@dataclass
class NewRow:
    """A row to be stored, where nobody has a class of their own for it."""

    line: int
    action: Action
    member_id: str
    content: dict[str, Any]
    problems: Sequence[Any] = field(default_factory=list)
    notes: Sequence[Any] = field(default_factory=list)


def insert(job: Job, verdicts: Sequence[New]) -> None:
    """Store a batch."""
    sealing: Any = Row._meta.get_field("content")
    columns: tuple[list[Any], ...] = ([], [], [], [], [], [])
    for each in verdicts:
        values = (
            each.line,
            str(each.action),
            each.member_id,
            sealing.seal(job.tenant_id, each.content).data,
            _json(each.problems),
            _json(each.notes),
        )
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    with database.cursor() as cursor:
        cursor.execute(_INSERT, [job.tenant_id, job.pk, str(RowState.CHECKED), *columns])


def refuse(job: Job, found: Iterable[tuple[int, tuple[str, str, dict[str, Any]]]]) -> None:
    """Refuse lines that were stored already, each with a problem."""
    lines, problems = [], []
    for line, problem in found:
        lines.append(line)
        problems.append(_json([problem]))
    with database.cursor() as cursor:
        refused = str(Action.REFUSED)
        cursor.execute(_REFUSE, [refused, refused, lines, problems, job.tenant_id, job.pk])


def rewrite(job: Job, rows: Sequence[Row]) -> None:
    """Store the contents of rows anew."""
    sealing: Any = Row._meta.get_field("content")
    contents = [sealing.seal(job.tenant_id, row.content).data for row in rows]
    if rows:
        with database.cursor() as cursor:
            cursor.execute(_REWRITE, [[row.pk for row in rows], contents, job.tenant_id, job.pk])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else "[]"
