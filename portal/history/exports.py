"""Export the log as a job. Its content is fixed when the export is requested; a worker then writes it in parts.

The file has the records that existed at that moment, the newest first. Records that are loaded later are excluded, even
if they are older in time: their primary key is higher than the one saved at the start.

A record from a notification keeps its key when the log's own record replaces it. It is exported as it is when its part
is written. If the log has another time for it, the record stays in the part of the notified time, which never changes.
So it is in the file exactly once. Records that are deleted before their part is written are missing (old records, names
of erased people). The last line, or the sheet "About", says so. The file is stored for a week.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from math import ceil
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, override, pgettext

from portal.base.files.cells import CellValue
from portal.base.files.workbooks import Sheet, render_rows, write_workbook
from portal.base.files.writing import render_csv, render_csv_lines
from portal.base.ui.times import local
from portal.base.ui.value_words import join_values, service_word
from portal.domain.events import MirrorKind
from portal.domain.history import filters, gaps, search
from portal.domain.history.event_words import event_text
from portal.domain.history.filters import status_word
from portal.domain.history.models import History, HistorySearch
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, file_executor
from portal.domain.jobs.kinds import AuditDescription, FilePiece, JobKind
from portal.domain.jobs.models import Job, JobState
from portal.domain.people.fields import as_json
from portal.domain.sync.models import MirrorState
from tenants.access import TenantRequest
from tenants.models import current_tenant
from tenants.roles import Permission
from tenants.sentences import Sentence, coded_sentence


def column_headings() -> list[str]:
    return [
        pgettext("log", "Time"),
        pgettext("log", "Event"),
        pgettext("log", "Event (service)"),
        pgettext("log", "Category"),
        _("Category (service)"),
        _("Status"),
        _("Status (service)"),
        pgettext("log", "Person"),
        _("Person ID"),
        _("Person type"),
        pgettext("log", "Label"),
        pgettext("log", "Credential"),
        _("Door or key box"),
        _("Device ID"),
        _("Keys"),
        _("Details not loaded"),
        pgettext("log", "Record ID"),
        _("Other data"),
    ]


def cells_of(record: History) -> list[CellValue]:
    """Return the cells of a record: translated words, and next to them the service's own words."""
    units = (f"{unit.get('unit_no', '')} {unit.get('unit_name', '')}".strip() for unit in record.units)
    return [
        local(record.at),
        event_text(record),
        record.content,
        service_word("category", record.category),
        record.category,
        status_word(record.status, current_tenant().environment.catalogue.states),
        record.status,
        record.member_name,
        record.member_id,
        service_word("person", record.member_type),
        record.member_label,
        service_word("credential", record.member_attribute),
        record.device_name,
        record.device_id,
        join_values(filter(None, units)),
        _("Yes") if record.notified else "",
        record.history_id,
        as_json(record.extra) if record.extra else "",
    ]


KIND = "log_export"
# The function that writes the rows of a part, by file type.
ROW_WRITERS = {
    "csv": lambda lines: b"".join(render_csv_lines(lines, has_seconds=True)),
    "xlsx": lambda lines: render_rows(lines, has_seconds=True),
}
# How many records a worker writes per second next to other workers; alone it writes four times as many.
RECORDS_PER_SECOND = 5_000
_PART_SIZE, _MAX_EXACT = 5_000, 10_000


def estimate_count(query: QueryDict) -> int:
    """Return about how many records an address matches: exact for small numbers, else PostgreSQL's estimate."""
    found = filters.apply_filters(search.search_rows(), query)
    exact = found[: _MAX_EXACT + 1].count()
    if exact <= _MAX_EXACT:
        return exact
    return max(exact, int(json.loads(found.order_by().explain(format="json"))[0]["Plan"]["Plan Rows"]))


def start_export(*, by: Requester, query: QueryDict, kind: str, count: int, description: list[str]) -> Job:
    """Start an export of an address's records. If the same person's same export is running, return that one.

    `count`: the approximate number of records; `description`: the lines that describe the content in the file.
    """
    with transaction.atomic():
        # After this lock, no transaction is still writing records, so all keys below the saved one exist.
        MirrorState.objects.select_for_update().filter(kind=MirrorKind.HISTORIES).first()
        same = {"by": by.user, "options__match": query.urlencode(), "options__format": kind}
        if running := Job.objects.filter(kind=KIND, state=JobState.RUNNING, stop_requested=False, **same).first():
            return running
        options = {
            "format": kind,
            "match": query.urlencode(),
            "below": search.next_record_key(),
            "told": description,
            **_frozen_filters(query),
        }
        title = coded_sentence("log.export", kind=kind.upper())
        facts = {"format": kind, "records": count, "filter": _filters_for_audit(query)}
        return actions.create_and_start(by=by, kind=KIND, title=title, size=count, options=options, facts=facts)


def _frozen_filters(query: QueryDict) -> dict[str, Any]:
    """Return fixed values for filters that change with the day or the building, and the other parameters as `query`."""
    remaining = query.copy()
    settled: dict[str, Any] = {"since": None, "until": None, "doors": None}
    if remaining.get("period") in filters.Period.values:
        since, until = filters.Period(remaining.pop("period")[-1]).span()
        settled |= {"since": since.isoformat(), "until": until.isoformat() if until else None}
    if areas := remaining.getlist("area"):
        settled["doors"] = filters.doors_of(areas)
        del remaining["area"]
    return {**settled, "query": remaining.urlencode()}


def _filters_for_audit(query: QueryDict) -> str:
    """Return the filters for the audit log, without search texts.

    These may be names, and the audit log is never erased.
    """
    filters = query.copy()
    if filters.pop("q", None):
        filters["q"] = "***"
    return filters.urlencode()


def exported_records(job: Job) -> QuerySet[HistorySearch]:
    """Return the exported records as search rows, the newest first."""
    options = job.options
    since, until = (datetime.fromisoformat(at) if (at := options[name]) else None for name in ("since", "until"))
    settled = search.RecordFilter(since=since, until=until, device_ids=options["doors"])
    found = search.filter_records(search.search_rows().filter(id__lt=options["below"]), settled)
    return filters.apply_filters(found, QueryDict(options["query"]))


def _write_piece(job: Job, place: list[Any] | None) -> FilePiece:
    """Return the next part of the file, in the language of the person who requested it."""
    found = exported_records(job)
    keys = list(_rows_after(found, place).values_list("id", "at", named=True)[:_PART_SIZE])
    end, last = [keys[-1].at.isoformat(), keys[-1].id] if keys else place, len(keys) < _PART_SIZE
    rows = {row.pk: row for row in search.load_records(keys) if row.notified_at is None}
    # This query comes second, so that a record whose time has changed in between is included.
    rows |= {row.pk: row for row in _redated_records(found, place, None if last else end)}
    ordered = sorted(rows.values(), key=lambda row: (row.notified_at or row.at, row.pk), reverse=True)
    with override(job.language):
        lines = [cells_of(row) for row in ordered]
    return FilePiece(ROW_WRITERS[job.options["format"]](lines), len(lines), end, is_last=last)


def _rows_after(found: QuerySet[Any], place: list[Any] | None, name: str = "at") -> QuerySet[Any]:
    """Return the rows that come after a place in the file, by the time in the field `name`."""
    if place is None:
        return found
    at = datetime.fromisoformat(place[0])
    return found.filter(**{f"{name}__lte": at}).exclude(**{name: at, "id__gte": place[1]})


def _redated_records(found: QuerySet[HistorySearch], begin: list[Any] | None, end: list[Any] | None) -> list[History]:
    """Return records that were notified between two places and that have another time in the log."""
    notified = _rows_after(History.objects.filter(notified_at__isnull=False), begin, "notified_at")
    if end is not None:
        notified = notified.exclude(pk__in=_rows_after(notified, end, "notified_at").values("pk"))
    known = dict(notified.values_list("id", "at"))
    matching = found.filter(id__in=list(known), at__in=list(known.values())) if known else found.none()
    return search.load_records(matching.values_list("id", "at", named=True))


def _audit_entry(job: Job, action: str) -> AuditDescription:
    return AuditDescription(
        f"log.export_{action}", f"{KIND}:{job.pk}", coded_sentence(f"log.export_{action}", kind=_format_text(job))
    )


def _format_text(job: Job) -> Sentence | str:
    return str(job.options.get("format", "")).upper()


LOG_EXPORT = JobKind(
    name=KIND,
    permission=Permission.LOGS_VIEW,
    executor=file_executor,
    family=KIND,
    describe_for_audit=_audit_entry,
    page_address=lambda job: reverse("history:export_page", args=[job.tenant.slug, job.pk]),
    read_piece=_write_piece,
    unit=gettext_lazy("records"),
)


def estimate_minutes(count: int) -> int:
    """Return about how many minutes it takes to write this number of records."""
    return ceil(count / RECORDS_PER_SECOND / 60)


def describe_file(request: TenantRequest, query: QueryDict) -> list[str]:
    """Return the lines that describe the file: its filters, and what is missing. They are fixed at the start."""
    known, now = filters.coverage_of(request), f"{local(timezone.now()):%Y-%m-%d %H:%M:%S}"
    through = f"{local(known.through):%Y-%m-%d %H:%M:%S}" if known.through else "–"
    filter_lines = filters.describe(request, query) or [_("All records")]
    exported = _("Exported by %(name)s on %(time)s.") % {"name": request.user, "time": now}
    complete = _("Complete through %(time)s. Records loaded after the export was started are not included.")
    missing = [line.text for line in gaps.gap_notices(known, *filters.time_span(query))]
    return [request.tenant.name, _("Activity log"), *filter_lines, complete % {"time": through}, *missing, exported]


def stream_file(job: Job) -> Iterator[bytes]:
    """Yield the file in pieces."""
    with override(job.language):
        names, about, log = column_headings(), _about_lines(job), _("Activity log")
        about_title = pgettext("sheet", "About this file")
    if job.options["format"] == "csv":
        return _stream_csv(job, names, about)
    described = render_rows([line] for line in about)
    return write_workbook([Sheet(log, names, file_executor.part_contents(job)), Sheet(about_title, (), [described])])


def _stream_csv(job: Job, names: list[str], about: list[str]) -> Iterator[bytes]:
    yield from render_csv([names])
    yield from file_executor.part_contents(job)
    yield from render_csv_lines([[" · ".join(about)]])


def _about_lines(job: Job) -> list[str]:
    count = ngettext("%(n)s record", "%(n)s records", job.checked_rows)
    return [*job.options["told"], count % {"n": number_format(job.checked_rows, force_grouping=True)}]
