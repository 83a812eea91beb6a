"""The imports area: one address an import, whose page follows its state; every step a plain POST."""

from functools import partial

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django_htmx.http import HttpResponseClientRefresh

from portal.core.files.faults import FileFault
from portal.core.files.sending import send
from portal.core.intents.record import Asker
from portal.core.jobs import progressing
from portal.core.jobs.states import JobState
from portal.imports import actions, downloads, giving, pages, queries, words
from portal.imports.access import get_import
from portal.imports.forms import ColumnsForm, UploadForm
from portal.imports.models import Import
from portal.imports.tables import Imports
from tenants.access import tenant_view
from tenants.connections.service import current_connection
from tenants.roles import Permission

RUN = Permission.IMPORTS_RUN


@tenant_view(RUN)
def index(request: HttpRequest) -> HttpResponse:
    return Imports(request, queries.all_of_tenant()).respond("imports/index.html")


@tenant_view(RUN, methods=["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if form.is_valid():
        try:
            job = actions.upload(by=Asker.of(request), upload=form.cleaned_data["file"])
        except FileFault as fault:
            form.add_error("file", words.of_file(fault.word, fault.facts))
        else:
            return _to(job)
    status = 422 if form.is_bound else 200
    return render(request, "imports/new.html", {"form": form, "clear_word": words.clear_word()}, status=status)


@tenant_view(RUN)
def page(request: HttpRequest, import_id: int) -> HttpResponse:
    return pages.respond(request, get_import(request, import_id))


@tenant_view(RUN, methods=["GET", "POST"])
def columns(request: HttpRequest, import_id: int) -> HttpResponse:
    job = get_import(request, import_id)
    if job.state not in (JobState.DRAFT, JobState.MAPPED, JobState.CHECKED):
        return _to(job)
    posted = request.POST if request.method == "POST" else None
    form, given = ColumnsForm(job, pages.group_choices(), posted), pages.rights_form(request, job, posted)
    if not all([form.is_valid(), given is None or given.is_valid()]):
        return pages.columns(request, job, form, given, 422 if form.is_bound else 200)
    wanted = {"default_group": form.cleaned_data["default_group"], "rights": giving.chosen(given) if given else {}}
    if not actions.choose_columns(by=Asker.of(request), job=job, chosen=form.chosen, **wanted):
        messages.error(request, _("It has been started meanwhile. Its columns stay as they were."))
    return _to(job)


@tenant_view(RUN, methods=["POST"])
def start(request: HttpRequest, import_id: int) -> HttpResponse:
    job = get_import(request, import_id)
    if not current_connection().is_connected:
        messages.error(request, _("The tenant is not connected to the service. Nothing was sent."))
    elif not actions.start(by=Asker.of(request), job=job):
        messages.info(request, _("It was started already, or its dry run is not finished."))
    return _to(job)


@tenant_view(RUN)
def progress(request: HttpRequest, import_id: int) -> HttpResponse:
    """The progress alone, for polling; the whole page is asked for again when there is more to see."""
    job = get_import(request, import_id)
    if job.state == JobState.MAPPED:
        return render(request, "components/progress.html", {"progress": pages.of_check(job)})
    if job.state != JobState.RUNNING:
        return HttpResponseClientRefresh()
    shown = progressing.of_run(job, queries.counts(job), current_connection())
    return render(request, "components/progress.html", {"progress": shown})


@tenant_view(RUN, methods=["POST"])
def stop(request: HttpRequest, import_id: int) -> HttpResponse:
    job = get_import(request, import_id)
    if not actions.stop(by=Asker.of(request), job=job):
        messages.info(request, _("It is not running any more."))
    return _to(job)


@tenant_view(RUN, methods=["POST"])
def go_on(request: HttpRequest, import_id: int) -> HttpResponse:
    job = get_import(request, import_id)
    if not actions.go_on(by=Asker.of(request), job=job):
        messages.info(request, _("It is not stopped."))
    return _to(job)


@tenant_view(RUN, methods=["POST"])
def retry(request: HttpRequest, import_id: int) -> HttpResponse:
    job = get_import(request, import_id)
    again = actions.retry(by=Asker.of(request), job=job)
    if again is None:
        messages.info(request, _("There is no row that could be sent again."))
    return _to(again or job)


@tenant_view(RUN, methods=["POST"])
def decide(request: HttpRequest, import_id: int) -> HttpResponse:
    job = get_import(request, import_id)
    verdict, _colon, row = request.POST.get("decision", "").partition(":")
    if verdict not in ("yes", "no") or not (row == "all" or (row.isdecimal() and len(row) < 19)):
        messages.error(request, _("Please say whether it was applied. Nothing was recorded."))
        return _to(job)
    rows = None if row == "all" else [int(row)]
    count = actions.decide(by=Asker.of(request), job=job, rows=rows, applied=verdict == "yes")
    messages.success(request, ngettext("%(n)d row decided.", "%(n)d rows decided.", count) % {"n": count})
    return _to(job)


@tenant_view(RUN, methods=["POST"])
def discard(request: HttpRequest, import_id: int) -> HttpResponse:
    job = get_import(request, import_id)
    if not actions.discard(by=Asker.of(request), job=job):
        messages.error(request, _("It has been started and is kept as a record."))
        return _to(job)
    messages.success(request, _("Discarded. Nothing was sent, and the file is deleted here."))
    return redirect("imports:index", request.tenant.slug)


@tenant_view(RUN)
def failed(request: HttpRequest, import_id: int, kind: str) -> HttpResponseBase:
    """The rows that were not applied, as they were uploaded, each with its reason."""
    job = get_import(request, import_id)
    rows = downloads.reasons(job)
    if not rows:
        raise Http404
    record = partial(actions.downloaded, by=Asker.of(request), job=job, rows=len(rows))
    lines = downloads.lines(job, rows)
    return send(lines, kind=kind, name=downloads.name(job), title="members", record=record, comes_back=True)


@tenant_view(RUN)
def template(request: HttpRequest, language: str, kind: str) -> HttpResponseBase:
    lines = downloads.template(language)
    return send(lines, kind=kind, name=f"members-{language}", title="members", record=None, comes_back=True)


def _to(job: Import) -> HttpResponse:
    return redirect("imports:page", job.tenant.slug, job.pk)
