"""The life of a job as pages: looked at, started, followed, stopped, continued, decided, retried, undone, discarded.

An area of work says in `Pages` what is its own about them and mounts them with `under`.
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

from portal.core.files.writing import REASONS, is_reason, send
from portal.core.intents.record import Asker
from portal.core.jobs import acts, kinds, queries, words
from portal.core.jobs.models import Job
from portal.core.jobs.pages import progress_of
from portal.core.jobs.states import ALIVE, JobState, RowState
from portal.core.mirror.fields.field import Cell
from portal.core.ui.addresses import is_row_number, row_or_404
from portal.core.ui.outcomes import Progress
from tenants.access import TenantRequest, View, tenant_view
from tenants.connections.service import current_connection
from tenants.roles import Permission, Proof

#: The headings (line 0), then these lines of a job's file as they were uploaded, each with its number.
Cells = Callable[[Job, set[int]], Iterator[tuple[int, list[str]]]]


Find = Callable[..., Job]
Again = Callable[..., Job | None]
Answer = Callable[..., HttpResponseBase]
_DISCARDED = gettext_lazy("Discarded. Nothing was sent.")


def of_family(family: str, *related: str) -> Find:
    """Return the look-up of a family's job, with what its page needs of `related`. It raises Http404 for all others."""

    def find(_request: TenantRequest, job_id: int) -> Job:
        known = queries.with_left(Job.objects.all()).select_related("by", "tenant__environment", "retry_of", *related)
        return row_or_404(known.filter(kind__in=kinds.in_family(family)), pk=job_id)

    return find


@dataclass(frozen=True)
class Pages:
    """What is an area's own about the pages of its jobs.

    - `permission`: who may see them; what is done to a job needs the permission of the job itself.
    - `find(request, **address)`: the job that the address names; Http404 for any other.
    - `page(request, job)`: its page, as its state wants it.
    - `home(job)`: where people are when it was discarded, and `discarded` what they are told there.
    - `proof`: what starting, continuing, retrying and undoing a job asks of its person.
    - `confirm(request, job)`: why it is not started as it was posted; empty for nothing. Where it says something, the
      page is answered again, with what was posted.
    - `retry`, `undo`, `discard`: an area's own way of doing so, called as those of `acts` are.
    - `progress(job)`: how far the job is, where that is not told by its rows.
    - `cells(job, lines)`: the headings (line 0) and these lines of the job's file as uploaded; `sheet` names the sheet
      of the file of rows to correct.
    """

    permission: Permission
    find: Find
    page: Callable[[TenantRequest, Job], HttpResponseBase]
    home: Callable[[Job], str]
    proof: Proof = Proof.LONG
    discarded: str | Promise = _DISCARDED
    confirm: Callable[[TenantRequest, Job], str] = lambda _request, _job: ""
    retry: Again = acts.retry
    undo: Again = acts.undo
    discard: Callable[..., bool] = acts.discard
    progress: Callable[[Job], Progress] = progress_of
    cells: Cells = lambda _job, _lines: iter(())
    sheet: str = ""


def page(pages: Pages, request: TenantRequest, job: Job) -> HttpResponseBase:
    return pages.page(request, job)


def progress(pages: Pages, request: TenantRequest, job: Job) -> HttpResponse:
    """The progress alone, for polling; the whole page is asked for again when there is more to see."""
    if job.state != JobState.MAPPED and job.state not in ALIVE:
        return HttpResponseClientRefresh()
    return render(request, "components/progress.html", {"progress": pages.progress(job)})


def failed(pages: Pages, request: TenantRequest, job: Job, kind: str) -> HttpResponseBase:
    """The rows that were not applied, as they were uploaded, each with its reason."""
    said = _reasons(job)
    if not said:
        raise Http404
    record = partial(acts.downloaded, by=Asker.of(request), job=job, rows=len(said))
    lines = _to_correct(pages.cells(job, set(said)), said)
    # Called as the uploaded file, without its ending.
    stem = re.sub(r"\.(csv|xlsx|tsv|txt)\Z", "", str(job.title), flags=re.IGNORECASE)[:80]
    return send(request, lines, kind=kind, name=f"{stem}-to-correct", title=pages.sheet, record=record, comes_back=True)


def _reasons(job: Job) -> dict[int, str]:
    """Line -> why it was not applied, of every row that was not."""
    said: dict[int, str] = {}
    for row in queries.not_applied(job).select_related("intent").order_by("line").iterator(chunk_size=2000):
        why = words.reasons(row, job)
        if not why and row.state == RowState.STOPPED:
            why = [str(RowState.STOPPED.label)]
        said[row.line] = "; ".join(why)
    return said


def _to_correct(cells: Iterator[tuple[int, list[str]]], said: Mapping[int, str]) -> Iterator[list[str]]:
    """The uploaded columns of these lines, values unchanged, and the reason in a last column that uploads leave out."""
    heading = REASONS["ja" if (get_language() or "").startswith("ja") else "en"]
    kept: list[int] = []
    for line, texts in cells:
        if line == 0:
            kept = [place for place, name in enumerate(texts) if not is_reason(name)]
        shown = [texts[place] if place < len(texts) else "" for place in kept]
        yield [*shown, said[line] if line else heading]


def start(pages: Pages, request: TenantRequest, job: Job) -> HttpResponseBase:
    refusal = pages.confirm(request, job) if job.state == JobState.CHECKED else ""
    if refusal:
        messages.error(request, refusal)
        answer = pages.page(request, job)
        answer.status_code = 422
        return answer
    if not current_connection().is_connected:
        messages.error(request, _("The tenant is not connected to the service. Nothing was sent."))
    elif not acts.start(by=Asker.of(request), job=job, doubles="doubles" in request.POST):
        messages.info(request, _("It has already started, or there is nothing to start."))
    return redirect(kinds.page(job))


def _simple(act: Callable[[Pages], Callable[..., Job | bool | None]], otherwise: Promise) -> Answer:
    """Return what does `act` and shows the job that came of it, or the same one; `otherwise` says that nothing did."""

    def do(pages: Pages, request: TenantRequest, job: Job) -> HttpResponse:
        done = act(pages)(by=Asker.of(request), job=job)
        if not done:
            messages.info(request, str(otherwise))
        return redirect(kinds.page(done if isinstance(done, Job) else job))

    return do


stop = _simple(lambda _pages: acts.stop, gettext_lazy("It is no longer running."))
go_on = _simple(lambda _pages: acts.go_on, gettext_lazy("It is not stopped."))
retry = _simple(lambda pages: pages.retry, gettext_lazy("There are no rows to retry."))
undo = _simple(lambda pages: pages.undo, gettext_lazy("It cannot be undone, or was undone already."))


def decide(pages: Pages, request: TenantRequest, job: Job) -> HttpResponse:
    verdict, _colon, row = request.POST.get("decision", "").partition(":")
    if verdict not in ("yes", "no") or not (row == "all" or is_row_number(row)):
        messages.error(request, _("Choose whether it was applied. Nothing was recorded."))
        return redirect(kinds.page(job))
    rows = None if row == "all" else [int(row)]
    count = acts.decide(by=Asker.of(request), job=job, rows=rows, applied=verdict == "yes")
    messages.success(request, ngettext("%(n)d row decided.", "%(n)d rows decided.", count) % {"n": count})
    return redirect(kinds.page(job))


def discard(pages: Pages, request: TenantRequest, job: Job) -> HttpResponse:
    if not pages.discard(by=Asker.of(request), job=job):
        messages.error(request, _("It has already started, so it is kept as a record."))
        return redirect(kinds.page(job))
    messages.success(request, str(pages.discarded))
    return redirect(pages.home(job))


def template(permission: Permission, cells: Iterable[Cell], name: str) -> View:
    """Declare an empty spreadsheet with every heading and one line to show what goes where."""

    @tenant_view(permission)
    def view(request: TenantRequest, language: str, kind: str) -> HttpResponseBase:
        place = 1 if language == "ja" else 0
        lines = [[cell.headings[place] for cell in cells], [cell.example[place] for cell in cells]]
        return send(request, lines, kind=kind, name=f"{name}-{language}", title=name, record=None, comes_back=True)

    return view


def reading(pages: Pages, show: Answer) -> View:
    """Declare a page that shows a job."""

    @tenant_view(pages.permission)
    def view(request: TenantRequest, kind: str = "", **address: Any) -> HttpResponseBase:
        return show(pages, request, pages.find(request, **address), **({"kind": kind} if kind else {}))

    return view


def doing(pages: Pages, act: Answer) -> View:
    """Declare what somebody does to a job, for those who may run it."""
    proof = pages.proof if act in (start, go_on, retry, undo) else Proof.NONE

    @tenant_view(pages.permission, methods=["POST"], proof=proof)
    def view(request: TenantRequest, **address: Any) -> HttpResponseBase:
        job = pages.find(request, **address)
        request.access.check(job.permission)
        return act(pages, request, job)

    return view


for name, regex in (("sheet", "csv|xlsx"), ("spoken", "en|ja")):
    if name not in get_converters():
        register_converter(type(name, (StringConverter,), {"regex": regex}), name)

#: What can be done to a job, by the name and the end of its address.
ACTS = {
    "start": start, "stop": stop, "continue": go_on, "retry": retry, "undo": undo,
    "decide": decide, "discard": discard,
}  # fmt: skip


def under(pages: Pages, *acts: str, at: str = "<int:job_id>/", prefix: str = "") -> list[URLPattern]:
    """The pages of an area's jobs, beneath `at`, called `prefix` + page, progress, the names of `acts`; with a sheet,
    also `failed`, the file of rows to correct. `kinds.Kind.page` has to lead there.
    """
    routes = [
        path(at, reading(pages, page), name=f"{prefix}page"),
        path(f"{at}progress/", reading(pages, progress), name=f"{prefix}progress"),
        *(path(f"{at}{act}/", doing(pages, ACTS[act]), name=f"{prefix}{act}") for act in acts),
    ]
    if pages.sheet:
        routes.append(path(f"{at}to-correct.<sheet:kind>", reading(pages, failed), name=f"{prefix}failed"))
    return routes
