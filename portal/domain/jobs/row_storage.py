"""Write and change thousands of rows. Row security forbids COPY into the table; arrays are as fast."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection as database

from portal.domain.jobs.models import Job, Row
from portal.domain.jobs.states import Action, RowState

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
