"""Views of imports. Each import has one address; its page depends on the import's state."""

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.files.file_limits import FileFault
from portal.domain.events import MirrorKind
from portal.domain.intents.recording import Requester
from portal.domain.jobs import costs, kinds, views
from portal.domain.jobs import queries as jobs
from portal.domain.jobs.lists import ATTENTION, job_chip
from portal.domain.jobs.models import Action, Job, JobState
from portal.domain.jobs.pages import JobPage, progress_of_check, render_started_job, render_table, tabs_of
from portal.domain.jobs.views import JobPages, job_finder
from portal.domain.people.member_fields import CODE, MEMBER, MEMBER_ID
from portal.domain.rights.forms import NewMemberRightsForm
from portal.domain.sync.models import MirrorState
from portal.imports import actions, lists
from portal.imports.forms import ColumnsForm, UploadForm, initial_rights, rights_to_save
from portal.imports.lists import CheckedRows, Imports, SentRows
from portal.imports.models import KIND
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


def show_job(request: TenantRequest, job: Job) -> HttpResponse:
    """Show the page for the import's state."""
    view, state = JobPage(request, job), JobState(job.state)
    if state == JobState.DRAFT:
        return render_columns(request, job, ColumnsForm(job), rights_form(request, job))
    if state == JobState.MAPPED:
        view.context["progress"] = progress_of_check(job)
        return render(request, "imports/checking.html", view.context)
    if state == JobState.REFUSED:
        view.context["problem"] = lists.file_problem_text(job.problem.get("word", ""), job.problem.get("facts", {}))
        return render(request, "imports/refused.html", view.context)
    return (
        _render_checked(view, job)
        if state == JobState.CHECKED
        else render_started_job(view, SentRows, "imports/sent.html")
    )


def rights_form(request: TenantRequest, job: Job, posted: QueryDict | None = None) -> NewMemberRightsForm | None:
    """Return the form for new members' rights; None if this person may not change rights."""
    if not request.access.can(Permission.RIGHTS_EDIT):
        return None
    return NewMemberRightsForm(posted, initial=initial_rights(job.sheet.rights))


def render_columns(
    request: TenantRequest, job: Job, form: ColumnsForm, rights: NewMemberRightsForm | None, status: int = 200
) -> HttpResponse:
    context = {"job": job, "url": kinds.page_address(job), "chip": job_chip(job), "form": form, "rights_form": rights}
    context["clear_word"] = lists.clear_words_text()
    return render(request, "imports/columns.html", context, status=status)


def _render_checked(view: JobPage, job: Job) -> HttpResponse:
    counts, noted = jobs.count_rows(job), jobs.count_noted(job)
    connection, creates = view.connection, counts.by_action(Action.CREATE)
    offered = tabs_of(view, [
        (ATTENTION, _("Needs attention"), counts.by_action(Action.REFUSED) + noted),
        ("", _("All"), counts.rows),
        (Action.CREATE, _("New"), creates),
        (Action.UPDATE, _("Will change"), counts.by_action(Action.UPDATE)),
        (Action.SAME, _("Unchanged"), counts.by_action(Action.SAME)),
        (Action.REFUSED, _("Failed the check"), counts.by_action(Action.REFUSED)),
        ("noted", _("Please check"), noted),
    ], first_tab=ATTENTION)  # fmt: skip
    view.context |= {
        "counts": counts,
        "cost": costs.cost_of_rows(connection, creates=creates, updates=counts.by_action(Action.UPDATE)),
        "connected": connection.is_connected,
        "as_of": MirrorState.objects.filter(kind=MirrorKind.MEMBERS).values_list("as_of", flat=True).first(),
        "same_file": lists.find_same_file(job) if job.retry_of_id is None else None,
        "left_out": lists.refused_rows(job),
        "rights": lists.rights_text(job.sheet.rights) if creates else "",
        "unmatched": not job.sheet.columns.keys() & {MEMBER_ID.name, CODE.name},
    }
    return render_table(view, CheckedRows, offered, "imports/checked.html")


MAY_RUN = Permission.IMPORTS_RUN


@tenant_view(MAY_RUN)
def index(request: TenantRequest) -> HttpResponse:
    return Imports(request, lists.all_imports()).respond("imports/index.html")


@tenant_view(MAY_RUN, methods=["GET", "POST"])
def new(request: TenantRequest) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if form.is_valid():
        try:
            job = actions.upload(by=Requester.from_request(request), upload=form.cleaned_data["file"])
        except FileFault as fault:
            form.add_error("file", lists.file_problem_text(fault.code, fault.values))
        else:
            return redirect(kinds.page_address(job))
    status = 422 if form.is_bound else 200
    return render(request, "imports/new.html", {"form": form, "clear_word": lists.clear_words_text()}, status=status)


@tenant_view(MAY_RUN, methods=["GET", "POST"])
def columns(request: TenantRequest, job_id: int) -> HttpResponse:
    job = JOBS.find_job(request, job_id)
    if job.state not in (JobState.DRAFT, JobState.MAPPED, JobState.CHECKED):
        return redirect(kinds.page_address(job))
    posted = request.POST if request.method == "POST" else None
    form, rights = ColumnsForm(job, posted), rights_form(request, job, posted)
    if not all([form.is_valid(), rights is None or rights.is_valid()]):
        return render_columns(request, job, form, rights, 422 if form.is_bound else 200)
    choices = {"default_group": form.cleaned_data["default_group"], "rights": rights_to_save(rights) if rights else {}}
    if not actions.choose_columns(by=Requester.from_request(request), job=job, chosen=form.chosen, **choices):
        messages.error(request, _("It has already started. Its columns were not changed."))
    return redirect(kinds.page_address(job))


template = views.template_view(MAY_RUN, MEMBER.sheet_columns, "members")


JOBS = JobPages(
    MAY_RUN,
    find_job=job_finder(KIND, "sheet__file"),
    show_job=show_job,
    home_address=lambda job: reverse("imports:index", args=[job.tenant.slug]),
    discarded_text=gettext_lazy("Discarded. Nothing was sent and the file was deleted."),
    retry=actions.retry,
    discard=actions.discard,
    uploaded_cells=lists.cells_of_lines,
    sheet_title="members",
)
