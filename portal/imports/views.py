"""The imports area: one address an import, whose page follows its state; every step a plain POST."""

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.core.files.bounds import FileFault
from portal.core.intents.record import Asker
from portal.core.jobs import costs, kinds, views
from portal.core.jobs import queries as jobs
from portal.core.jobs.lists import ATTENTION, job_chip
from portal.core.jobs.models import Job
from portal.core.jobs.pages import View, progress_of_check, sent, table, tabs
from portal.core.jobs.states import Action, JobState
from portal.core.jobs.views import Pages, of_family
from portal.core.mirror.fields.members import CODE, MEMBER, MEMBER_ID
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import MirrorState
from portal.core.mirror.queries import groups as groups_by_name
from portal.core.rights.forms import NewRights
from portal.imports import actions, queries, words
from portal.imports.forms import ColumnsForm, UploadForm, initial_rights, kept_rights
from portal.imports.lists import CheckedRows, Imports, SentRows
from portal.imports.models import KIND
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


def respond(request: TenantRequest, job: Job) -> HttpResponse:
    """The page as the import's state wants it."""
    view, state = View(request, job), JobState(job.state)
    if state == JobState.DRAFT:
        return ask_columns(request, job, ColumnsForm(job, group_choices()), rights_form(request, job))
    if state == JobState.MAPPED:
        view.context["progress"] = progress_of_check(job)
        return render(request, "imports/checking.html", view.context)
    if state == JobState.REFUSED:
        view.context["problem"] = words.of_file(job.problem.get("word", ""), job.problem.get("facts", {}))
        return render(request, "imports/refused.html", view.context)
    return _checked(view, job) if state == JobState.CHECKED else sent(view, SentRows, "imports/sent.html")


def rights_form(request: TenantRequest, job: Job, posted: QueryDict | None = None) -> NewRights | None:
    """What new members may do from the start, for whoever may say so."""
    if not request.access.can(Permission.RIGHTS_EDIT):
        return None
    return NewRights(posted, initial=initial_rights(job.sheet.rights))


def ask_columns(
    request: TenantRequest, job: Job, form: ColumnsForm, given: NewRights | None, status: int = 200
) -> HttpResponse:
    context = {"job": job, "chip": job_chip(job), "form": form, "given": given, "clear_word": words.clear_word()}
    return render(request, "imports/columns.html", context, status=status)


def group_choices() -> list[tuple[str, str]]:
    return list(groups_by_name().values_list("membergroup_id", "membergroup_name"))


def _checked(view: View, job: Job) -> HttpResponse:
    counts, noted = jobs.counts(job), jobs.noted(job)
    connection, creates = view.connection, counts.action(Action.CREATE)
    offered = tabs(view, [
        (ATTENTION, _("Needs attention"), counts.action(Action.REFUSED) + noted),
        ("", _("All"), counts.rows),
        (Action.CREATE, _("New"), creates),
        (Action.UPDATE, _("Will change"), counts.action(Action.UPDATE)),
        (Action.SAME, _("Unchanged"), counts.action(Action.SAME)),
        (Action.REFUSED, _("Failed the check"), counts.action(Action.REFUSED)),
        ("noted", _("Please check"), noted),
    ], opens=ATTENTION)  # fmt: skip
    view.context |= {
        "counts": counts,
        "cost": costs.of_rows(connection, creates=creates, updates=counts.action(Action.UPDATE)),
        "connected": connection.is_connected,
        "as_of": MirrorState.objects.filter(kind=Kind.MEMBERS).values_list("as_of", flat=True).first(),
        "same_file": queries.same_file(job) if job.retry_of_id is None else None,
        "left_out": queries.left_out(job),
        "rights": words.of_rights(job.sheet.rights) if creates else "",
        "unmatched": not job.sheet.columns.keys() & {MEMBER_ID.name, CODE.name},
    }
    return table(view, CheckedRows, offered, "imports/checked.html")


RUN = Permission.IMPORTS_RUN


@tenant_view(RUN)
def index(request: TenantRequest) -> HttpResponse:
    return Imports(request, queries.all_of_tenant()).respond("imports/index.html")


@tenant_view(RUN, methods=["GET", "POST"])
def new(request: TenantRequest) -> HttpResponse:
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
def columns(request: TenantRequest, job_id: int) -> HttpResponse:
    job = JOBS.find(request, job_id)
    if job.state not in (JobState.DRAFT, JobState.MAPPED, JobState.CHECKED):
        return redirect(kinds.page(job))
    posted = request.POST if request.method == "POST" else None
    form, given = ColumnsForm(job, group_choices(), posted), rights_form(request, job, posted)
    if not all([form.is_valid(), given is None or given.is_valid()]):
        return ask_columns(request, job, form, given, 422 if form.is_bound else 200)
    wanted = {"default_group": form.cleaned_data["default_group"], "rights": kept_rights(given) if given else {}}
    if not actions.choose_columns(by=Asker.of(request), job=job, chosen=form.chosen, **wanted):
        messages.error(request, _("It has already started. Its columns were not changed."))
    return redirect(kinds.page(job))


template = views.template(RUN, MEMBER.cells, "members")


JOBS = Pages(
    RUN,
    find=of_family(KIND, "sheet__file"),
    page=respond,
    home=lambda job: reverse("imports:index", args=[job.tenant.slug]),
    discarded=gettext_lazy("Discarded. Nothing was sent and the file was deleted."),
    retry=actions.retry,
    discard=actions.discard,
    cells=queries.cells_of,
    sheet="members",
)
