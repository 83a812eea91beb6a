"""Send a finished export as a file: a heading, the stored parts, and a description."""

from collections.abc import Iterator
from math import ceil

from django.http import QueryDict
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override, pgettext

from portal.base.files import xlsx_streaming
from portal.base.files.writing import render_csv, render_csv_lines
from portal.base.ui.times import local
from portal.domain.jobs import file_executor
from portal.domain.jobs.models import Job
from portal.domain.log import filters, gaps
from portal.logs.exports import cells
from portal.logs.exports.actions import RECORDS_PER_SECOND
from tenants.access import TenantRequest


def estimate_minutes(count: int) -> int:
    """Return about how many minutes it takes to write this number of records."""
    return ceil(count / RECORDS_PER_SECOND / 60)


def describe_file(request: TenantRequest, query: QueryDict) -> list[str]:
    """Return the lines that describe the file: its filters, and what is missing. They are fixed at the start."""
    known, now = filters.coverage_of(request), f"{local(timezone.now()):%Y-%m-%d %H:%M:%S}"
    through = f"{local(known.through):%Y-%m-%d %H:%M:%S}" if known.through else "–"
    asked = filters.describe(request, query) or [_("All records")]
    exported = _("Exported by %(name)s on %(time)s.") % {"name": request.user, "time": now}
    complete = _("Complete through %(time)s. Records loaded after the export was started are not included.")
    missing = [line.text for line in gaps.gap_notices(known, *filters.time_span(query))]
    return [request.tenant.name, _("Activity log"), *asked, complete % {"time": through}, *missing, exported]


def stream_file(job: Job) -> Iterator[bytes]:
    """Yield the file in pieces."""
    with override(job.language):
        names, about, log = cells.column_headings(), _about_lines(job), _("Activity log")
        about_title = pgettext("sheet", "About this file")
    if job.options["format"] == "csv":
        return _stream_csv(job, names, about)
    sheets = xlsx_streaming.count_parts_per_sheet(file_executor.parts_of(job).values_list("rows", "size"))
    lines = [[line] for line in about]
    return xlsx_streaming.stream_workbook(
        sheets, file_executor.part_contents(job), title=log, heading=names, about=(about_title, lines)
    )


def _stream_csv(job: Job, names: list[str], about: list[str]) -> Iterator[bytes]:
    yield from render_csv([names])
    yield from file_executor.part_contents(job)
    yield from render_csv_lines([[" · ".join(about)]])


def _about_lines(job: Job) -> list[str]:
    count = ngettext("%(n)s record", "%(n)s records", job.looked_at)
    return [*job.options["told"], count % {"n": number_format(job.looked_at, force_grouping=True)}]
