"""The imports area: one address an import, whose page follows its state; every step a plain POST."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.core.files.faults import FileFault
from portal.core.files.sending import send
from portal.core.intents.record import Asker
from portal.core.jobs import files, kinds
from portal.core.jobs.states import JobState
from portal.core.jobs.views import Pages, of_family
from portal.core.mirror.fields.members import MEMBER
from portal.imports import actions, giving, pages, queries, words
from portal.imports.forms import ColumnsForm, UploadForm
from portal.imports.lists import Imports
from portal.imports.models import KIND
from tenants.access import tenant_view
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
            return redirect(kinds.page(job))
    status = 422 if form.is_bound else 200
    return render(request, "imports/new.html", {"form": form, "clear_word": words.clear_word()}, status=status)


@tenant_view(RUN, methods=["GET", "POST"])
def columns(request: HttpRequest, job_id: int) -> HttpResponse:
    job = JOBS.find(request, job_id)
    if job.state not in (JobState.DRAFT, JobState.MAPPED, JobState.CHECKED):
        return redirect(kinds.page(job))
    posted = request.POST if request.method == "POST" else None
    form, given = ColumnsForm(job, pages.group_choices(), posted), pages.rights_form(request, job, posted)
    if not all([form.is_valid(), given is None or given.is_valid()]):
        return pages.columns(request, job, form, given, 422 if form.is_bound else 200)
    wanted = {"default_group": form.cleaned_data["default_group"], "rights": giving.chosen(given) if given else {}}
    if not actions.choose_columns(by=Asker.of(request), job=job, chosen=form.chosen, **wanted):
        messages.error(request, _("It has already started. Its columns were not changed."))
    return redirect(kinds.page(job))


@tenant_view(RUN)
def template(request: HttpRequest, language: str, kind: str) -> HttpResponseBase:
    lines = files.template(MEMBER.cells, language)
    return send(lines, kind=kind, name=f"members-{language}", title="members", record=None, comes_back=True)


JOBS = Pages(
    RUN,
    find=of_family(KIND, "sheet__file"),
    page=pages.respond,
    home=lambda job: reverse("imports:index", args=[job.tenant.slug]),
    discarded=gettext_lazy("Discarded. Nothing was sent and the file was deleted."),
    retry=actions.retry,
    discard=actions.discard,
    cells=queries.cells_of,
    sheet="members",
)
