"""Files to take away: rows to correct, and the template to begin with."""

import re
from collections.abc import Iterator

from django.utils.translation import get_language

from portal.core.files.marks import REASONS, is_reason
from portal.core.jobs import words
from portal.core.jobs.states import RowState
from portal.imports import queries
from portal.imports.columns import FIELDS
from portal.imports.models import Import


def reasons(job: Import) -> dict[int, str]:
    """Line -> why it was not applied, of every row that was not."""
    said: dict[int, str] = {}
    for row in queries.not_applied(job).order_by("line").iterator(chunk_size=2000):
        found = words.reasons(row, job)
        if not found and row.state == RowState.STOPPED:
            found = [str(RowState.STOPPED.label)]
        said[row.line] = "; ".join(found)
    return said


def lines(job: Import, said: dict[int, str]) -> Iterator[list[str]]:
    """The uploaded columns of these lines, values unchanged, and the reason in a last column that imports leave out."""
    heading = REASONS["ja" if (get_language() or "").startswith("ja") else "en"]
    kept: list[int] = []
    for line, cells in queries.cells_of(job, set(said)):
        if line == 0:
            kept = [place for place, name in enumerate(cells) if not is_reason(name)]
            yield [*(cells[place] for place in kept), heading]
        else:
            yield [*(cells[place] if place < len(cells) else "" for place in kept), said[line]]


def name(job: Import) -> str:
    stem = re.sub(r"\.(csv|xlsx|tsv|txt)\Z", "", job.file.name, flags=re.IGNORECASE)
    return f"{stem[:80]}-to-correct"


def template(language: str) -> list[list[str]]:
    """An empty spreadsheet with every heading and one line to show what goes where."""
    place = 1 if language == "ja" else 0
    return [[field.headings[place] for field in FIELDS], [field.example[place] for field in FIELDS]]
