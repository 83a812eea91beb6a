"""The rows of a job as a file to correct and bring back: as uploaded, with the reason in a last column."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from django.utils.translation import get_language

from portal.core.files.marks import REASONS, is_reason
from portal.core.jobs import queries, words
from portal.core.jobs.models import Job
from portal.core.jobs.states import RowState
from portal.core.mirror.fields.headings import Cell

#: The headings (line 0), then these lines of a job's file as they were uploaded, each with its number.
Cells = Callable[[Job, set[int]], Iterator[tuple[int, list[str]]]]


def reasons(job: Job) -> dict[int, str]:
    """Line -> why it was not applied, of every row that was not."""
    said: dict[int, str] = {}
    for row in queries.not_applied(job).select_related("intent").order_by("line").iterator(chunk_size=2000):
        found = words.reasons(row, job)
        if not found and row.state == RowState.STOPPED:
            found = [str(RowState.STOPPED.label)]
        said[row.line] = "; ".join(found)
    return said


def to_correct(cells: Iterator[tuple[int, list[str]]], said: Mapping[int, str]) -> Iterator[list[str]]:
    """The uploaded columns of these lines, values unchanged, and the reason in a last column that uploads leave out."""
    heading = REASONS["ja" if (get_language() or "").startswith("ja") else "en"]
    kept: list[int] = []
    for line, found in cells:
        if line == 0:
            kept = [place for place, name in enumerate(found) if not is_reason(name)]
        shown = [found[place] if place < len(found) else "" for place in kept]
        yield [*shown, said[line] if line else heading]


def name(job: Job) -> str:
    """What the file is called, without its ending: as the uploaded one, and what it is for."""
    stem = re.sub(r"\.(csv|xlsx|tsv|txt)\Z", "", str(job.title), flags=re.IGNORECASE)
    return f"{stem[:80]}-to-correct"


def template(cells: Iterable[Cell], language: str) -> list[list[str]]:
    """An empty spreadsheet with every heading and one line to show what goes where."""
    place = 1 if language == "ja" else 0
    return [list(each) for each in zip(*((cell.headings[place], cell.example[place]) for cell in cells), strict=True)]
