"""Imports as pages ask for them, of the tenant in scope."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet

from portal.core.jobs.models import Row
from portal.core.jobs.queries import Counts, counts, not_applied, noted
from portal.core.jobs.states import Action, JobState
from portal.imports.models import Import
from portal.imports.storing import opened

__all__ = [
    "Counts",
    "all_of_tenant",
    "cells_of",
    "counts",
    "left_out",
    "not_applied",
    "noted",
    "same_file",
    "under_way",
]


def all_of_tenant() -> QuerySet[Import]:
    found = Import.objects.select_related("sheet__file", "by", "tenant")
    return found.defer("sheet__file__headings", "sheet__file__sample")


def under_way() -> QuerySet[Import]:
    """Imports that somebody may be waiting for: dry runs and running ones, oldest first."""
    return all_of_tenant().filter(state__in=[JobState.MAPPED, JobState.RUNNING]).order_by("id")


def same_file(job: Import) -> Import | None:
    """The last import that was started with this very file, if there was one; retries aside."""
    started = all_of_tenant().filter(
        sheet__file__fingerprint=bytes(job.file.fingerprint), started_at__isnull=False, retry_of__isnull=True
    )
    return started.exclude(pk=job.pk).exclude(sheet__file=job.file.pk).order_by("-started_at").first()


@dataclass(frozen=True)
class LeftOut:
    """Rows that an import leaves out: the first by line, with whom they are about, and how many more there are."""

    rows: list[Row]
    more: int


def left_out(job: Import, most: int = 10) -> LeftOut:
    """The rows that the check refused."""
    refused = Row.objects.filter(job=job, action=Action.REFUSED)
    rows = list(refused.order_by("line")[:most])
    return LeftOut(rows, refused.count() - len(rows) if len(rows) == most else 0)


def cells_of(job: Import, lines: set[int]) -> Iterator[tuple[int, list[str]]]:
    """The headings (line 0) and the named lines of the file as they were uploaded."""
    headings, rows = opened(job.file)
    yield 0, headings
    for line, cells in rows:
        if line in lines:
            yield line, cells
