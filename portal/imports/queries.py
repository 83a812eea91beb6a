"""Queries for the pages of imports, for the tenant in scope."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from portal.base.files import reading
from portal.domain.jobs import queries
from portal.domain.jobs.models import Action, Job, Row
from portal.imports.models import KIND, ImportChunk, ImportFile


def all_imports() -> QuerySet[Job]:
    known = queries.jobs_of_family(KIND).select_related("sheet__file")
    return known.defer("sheet__file__headings", "sheet__file__sample")


def find_same_file(job: Job) -> Job | None:
    """Return the last started import of the same file, or None. Retries are ignored."""
    file = job.sheet.file
    started = all_imports().filter(
        sheet__file__fingerprint=bytes(file.fingerprint), started_at__isnull=False, retry_of__isnull=True
    )
    return started.exclude(pk=job.pk).exclude(sheet__file=file.pk).order_by("-started_at").first()


@dataclass(frozen=True)
class RefusedRows:
    """The first rows that an import leaves out, by line, and how many more there are."""

    rows: list[Row]
    more_count: int


def refused_rows(job: Job, limit: int = 10) -> RefusedRows:
    """Return the rows that the check refused."""
    refused = Row.objects.filter(job=job, action=Action.REFUSED)
    rows = list(refused.order_by("line")[:limit])
    return RefusedRows(rows, refused.count() - len(rows) if len(rows) == limit else 0)


def cells_of_lines(job: Job, lines: set[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield the headings (as line 0) and the given lines of the file as uploaded."""
    headings, rows = open_file(job.sheet.file)
    yield 0, headings
    yield from (each for each in rows if each[0] in lines)


def open_file(file: ImportFile) -> tuple[list[str], Iterator[reading.Line]]:
    """Return the headings and an iterator over the rows of a stored file.

    Raises FileFault, also while rows are read.
    """

    def chunks() -> Iterator[bytes]:
        for number in range(ImportChunk.objects.filter(file=file).count()):
            yield ImportChunk.objects.get(file=file, number=number).body

    return reading.open_rows(file.kind, file.encoding, file.delimiter, chunks)
