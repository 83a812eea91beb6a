"""Views of a job: show, start, follow, stop, continue, decide, retry, undo and discard it.

An area of work describes its own pages in `JobPages` and mounts them with `job_urls`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, register_converter
from django.urls.converters import StringConverter, get_converters
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRefresh

from portal.base.files.writing import REASON_HEADINGS, is_reason_heading, send_file
from portal.base.ui.outcome_lines import Progress
from portal.base.ui.url_lookup import get_row_or_404, is_row_number
from portal.base.ui.value_words import join_groups
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions, kinds, queries, undoing, words
from portal.domain.jobs.models import ALIVE, Job, JobState, RowState
from portal.domain.jobs.pages import progress_of
from portal.domain.people.fields import SheetColumn
from tenants.access import TenantRequest, View, tenant_view
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission, Proof

#: The headings (line 0), then these lines of a job's file as uploaded, each with its number.
UploadedCells = Callable[[Job, set[int]], Iterator[tuple[int, list[str]]]]


FindJob = Callable[..., Job]
RepeatJob = Callable[..., Job | None]
JobView = Callable[..., HttpResponseBase]
_DISCARDED_TEXT = gettext_lazy("Discarded. Nothing was sent.")


def job_finder(family: str, *related: str) -> FindJob:
    """Return a function that finds a family's job, with its `related` rows. It raises Http404 for other jobs."""

    def find(_request: TenantRequest, job_id: int) -> Job:
        known = queries.with_problem_flags(Job.objects.all()).select_related(
            "by", "tenant__environment", "retry_of", *related
        )
        return get_row_or_404(known.filter(kind__in=kinds.kinds_in_family(family)), pk=job_id)

    return find


@dataclass(frozen=True)
class JobPages:
    """The settings of an area for the pages of its jobs.

    - `permission`: needed to see them; an action on a job needs the job's own permission.
    - `find_job(request, **address)`: the job at this URL; raises Http404 if there is none.
    - `show_job(request, job)`: the job's page, by its state.
    - `home_address(job)`: where people go after it was discarded; `discarded_text` is shown there.
    - `proof`: the proof of identity needed to start, continue, retry and undo a job.
    - `reason_not_to_start(request, job)`: why it cannot start with the posted values; "" if it can. With a reason, the
      page is shown again with these values.
    - `retry`, `undo`, `discard`: an area's own versions of these actions, called like those of `actions`.
    - `describe_progress(job)`: the job's progress, if it does not depend on its rows.
    - `uploaded_cells(job, lines)`: the headings (line 0) and these lines of the job's file as uploaded; `sheet_title`
      is the sheet's name in the file of rows to correct.
    """

    permission: Permission
    find_job: FindJob
    show_job: Callable[[TenantRequest, Job], HttpResponseBase]
    home_address: Callable[[Job], str]
    proof: Proof = Proof.LONG
    discarded_text: str | Promise = _DISCARDED_TEXT
    reason_not_to_start: Callable[[TenantRequest, Job], str] = lambda _request, _job: ""
    retry: RepeatJob = actions.retry
    undo: RepeatJob = undoing.undo
    discard: Callable[..., bool] = actions.discard
    describe_progress: Callable[[Job], Progress] = progress_of
    uploaded_cells: UploadedCells = lambda _job, _lines: iter(())
    sheet_title: str = ""


def page(pages: JobPages, request: TenantRequest, job: Job) -> HttpResponseBase:
    return pages.show_job(request, job)


def progress(pages: JobPages, request: TenantRequest, job: Job) -> HttpResponse:
    """Render the progress alone, for polling; the whole page reloads when the job has ended."""
    if job.state != JobState.MAPPED and job.state not in ALIVE:
        return HttpResponseClientRefresh()
    return render(request, "components/progress.html", {"progress": pages.describe_progress(job)})


def download_failed_rows(pages: JobPages, request: TenantRequest, job: Job, kind: str) -> HttpResponseBase:
    """Return a file of the rows to correct, as they were uploaded, each with its reason."""
    reasons = _reasons(job)
    if not reasons:
        raise Http404
    record = partial(actions.record_download, by=Requester.from_request(request), job=job, rows=len(reasons))
    lines = _correction_lines(pages.uploaded_cells(job, set(reasons)), reasons)
    # Named like the uploaded file, without its extension.
    stem = re.sub(r"\.(csv|xlsx|tsv|txt)\Z", "", str(job.title), flags=re.IGNORECASE)[:80]
    return send_file(
        request,
        lines,
        kind=kind,
        name=f"{stem}-to-correct",
        title=pages.sheet_title,
        record=record,
    )


def _reasons(job: Job) -> dict[int, str]:
    """Return the reason by line, for every row to correct."""
    reasons: dict[int, str] = {}
    for row in queries.rows_to_correct(job).select_related("intent").order_by("line").iterator(chunk_size=2000):
        why = words.describe_row(row, job)
        if not why and row.state == RowState.STOPPED:
            why = [str(RowState.STOPPED.label)]
        reasons[row.line] = join_groups(why)
    return reasons


def _correction_lines(cells: Iterator[tuple[int, list[str]]], reasons: Mapping[int, str]) -> Iterator[list[str]]:
    """Yield the uploaded columns of these lines, unchanged, with the reason in a last column.

    A later upload ignores that column.
    """
    heading = REASON_HEADINGS["ja" if (get_language() or "").startswith("ja") else "en"]
    positions: list[int] = []
    for line, texts in cells:
        if line == 0:
            positions = [place for place, name in enumerate(texts) if not is_reason_heading(name)]
        uploaded = [texts[place] if place < len(texts) else "" for place in positions]
        yield [*uploaded, reasons[line] if line else heading]


def start(pages: JobPages, request: TenantRequest, job: Job) -> HttpResponseBase:
    refusal = pages.reason_not_to_start(request, job) if job.state == JobState.CHECKED else ""
    if refusal:
        messages.error(request, refusal)
        answer = pages.show_job(request, job)
        answer.status_code = 422
        return answer
    if not current_connection().is_connected:
        messages.error(
            request, _("Nothing was sent: the tenant is not connected to the service. An owner can reconnect it.")
        )
    elif not actions.start(
        by=Requester.from_request(request), job=job, should_send_duplicates="doubles" in request.POST
    ):
        messages.info(
            request, _("Nothing was started: it has already started, or has no rows left. Check its state below.")
        )
    return redirect(kinds.page_address(job))


def _action_view(action: Callable[[JobPages], Callable[..., Job | bool | None]], nothing_done_text: Promise) -> JobView:
    """Return a view that calls `action` and redirects to the job that it returns, or to the same job.

    `nothing_done_text` is shown when it did nothing.
    """

    def do(pages: JobPages, request: TenantRequest, job: Job) -> HttpResponse:
        done = action(pages)(by=Requester.from_request(request), job=job)
        if not done:
            messages.info(request, str(nothing_done_text))
        return redirect(kinds.page_address(done if isinstance(done, Job) else job))

    return do


stop = _action_view(
    lambda _pages: actions.stop, gettext_lazy("Nothing was stopped: it is no longer running. See the result below.")
)
continue_job = _action_view(
    lambda _pages: actions.continue_job, gettext_lazy("Nothing was continued: it is not stopped. See its state below.")
)
retry = _action_view(
    lambda pages: pages.retry, gettext_lazy("Nothing was sent: no rows can be retried. See the result below.")
)
undo = _action_view(
    lambda pages: pages.undo,
    gettext_lazy("Nothing was undone: this cannot be undone, or was undone already. See the result below."),
)


def decide(pages: JobPages, request: TenantRequest, job: Job) -> HttpResponse:
    verdict, _colon, row = request.POST.get("decision", "").partition(":")
    if verdict not in ("yes", "no") or not (row == "all" or is_row_number(row)):
        messages.error(request, _("Nothing was recorded. Choose whether it was applied."))
        return redirect(kinds.page_address(job))
    rows = None if row == "all" else [int(row)]
    count = actions.decide(by=Requester.from_request(request), job=job, rows=rows, applied=verdict == "yes")
    messages.success(request, ngettext("%(n)d row decided.", "%(n)d rows decided.", count) % {"n": count})
    return redirect(kinds.page_address(job))


def discard(pages: JobPages, request: TenantRequest, job: Job) -> HttpResponse:
    if not pages.discard(by=Requester.from_request(request), job=job):
        messages.error(request, _("Not discarded: it has already started and is kept as a record. You can stop it."))
        return redirect(kinds.page_address(job))
    messages.success(request, str(pages.discarded_text))
    return redirect(pages.home_address(job))


def template_view(permission: Permission, cells: Iterable[SheetColumn], name: str) -> View:
    """Return a view of an empty spreadsheet with all headings and one example line."""

    @tenant_view(permission)
    def view(request: TenantRequest, language: str, kind: str) -> HttpResponseBase:
        place = 1 if language == "ja" else 0
        lines = [[cell.headings[place] for cell in cells], [cell.example[place] for cell in cells]]
        return send_file(request, lines, kind=kind, name=f"{name}-{language}", title=name, record=None)

    return view


def job_view(pages: JobPages, show: JobView) -> View:
    """Return a view that shows a job."""

    @tenant_view(pages.permission)
    def view(request: TenantRequest, kind: str = "", **address: Any) -> HttpResponseBase:
        return show(pages, request, pages.find_job(request, **address), **({"kind": kind} if kind else {}))

    return view


def job_action_view(pages: JobPages, action: JobView) -> View:
    """Return a view of an action on a job, for those with the job's permission."""
    proof = pages.proof if action in (start, continue_job, retry, undo) else Proof.NONE

    @tenant_view(pages.permission, methods=["POST"], proof=proof)
    def view(request: TenantRequest, **address: Any) -> HttpResponseBase:
        job = pages.find_job(request, **address)
        request.access.check(job.permission)
        return action(pages, request, job)

    return view


for name, regex in (("sheet", "csv|xlsx"), ("spoken", "en|ja")):
    if name not in get_converters():
        register_converter(type(name, (StringConverter,), {"regex": regex}), name)

#: The actions on a job, by name, which is also the end of the URL.
ACTIONS = {
    "start": start, "stop": stop, "continue": continue_job, "retry": retry, "undo": undo,
    "decide": decide, "discard": discard,
}  # fmt: skip


def job_urls(
    pages: JobPages, *names: str, path_prefix: str = "<int:job_id>/", name_prefix: str = ""
) -> list[URLPattern]:
    """Return the URLs of an area's jobs under `path_prefix`: page, progress and each of the actions `names`.

    Their names start with `name_prefix`. With a sheet, `download_failed_rows` is added (the file of rows to correct).
    `kinds.JobKind.page_address` must return the URL of the page.
    """
    routes = [
        path(path_prefix, job_view(pages, page), name=f"{name_prefix}page"),
        path(f"{path_prefix}progress/", job_view(pages, progress), name=f"{name_prefix}progress"),
        *(
            path(f"{path_prefix}{name}/", job_action_view(pages, ACTIONS[name]), name=f"{name_prefix}{name}")
            for name in names
        ),
    ]
    if pages.sheet_title:
        routes.append(
            path(
                f"{path_prefix}to-correct.<sheet:kind>",
                job_view(pages, download_failed_rows),
                name=f"{name_prefix}failed",
            )
        )
    return routes
