"""Views of imports. Each import has one address; its page depends on the import's state.

The pages until the check are the same for all kinds of files (`SheetPages`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from portal.base.files.file_limits import FileFault
from portal.domain.events import MirrorKind
from portal.domain.intents.recording import Requester
from portal.domain.jobs import costs, kinds, views
from portal.domain.jobs import queries as jobs
from portal.domain.jobs.lists import ATTENTION, job_chip
from portal.domain.jobs.models import Action, Job, JobState
from portal.domain.jobs.pages import JobPage, progress_of_check, render_started_job, render_table, tabs_of, undo_context
from portal.domain.jobs.views import JobPages, job_finder
from portal.domain.people.member_fields import CODE, MEMBER, MEMBER_ID
from portal.domain.rights.forms import NewMemberRightsForm
from portal.domain.sync.models import MirrorState
from portal.imports import actions, lists
from portal.imports.columns import unknown_headings
from portal.imports.forms import ColumnsForm, LayoutForm, UploadForm, initial_rights, rights_to_save
from portal.imports.lists import CheckedRows, Imports, SentRows
from portal.imports.models import KIND
from portal.imports.products import find_product
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


@dataclass(frozen=True)
class SheetPages:
    """The pages of a kind of files until the check: how the file is read, what its columns mean, the progress.

    `base`: the template that they extend. `upload_address(job)`: where another file is uploaded. `on_chosen(job)` is
    called after columns were chosen.
    """

    permission: Permission
    find_job: views.FindJob
    base: str
    upload_address: Callable[[Job], str]
    on_chosen: Callable[[Job], None] = lambda _job: None

    def show(self, request: TenantRequest, job: Job) -> HttpResponse | None:
        """Return the page of a job that is not checked yet; None for other states."""
        context = {**JobPage(request, job).context, "base": self.base, "upload_url": self.upload_address(job)}
        match job.state:
            case JobState.DRAFT:
                return self.render_columns(request, job, ColumnsForm(job), rights_form(request, job))
            case JobState.MAPPED:
                return render(request, "imports/checking.html", context | {"progress": progress_of_check(job)})
            case JobState.REFUSED:
                text = lists.file_problem_text(job.problem.get("word", ""), job.problem.get("facts", {}))
                return render(request, "imports/refused.html", context | {"problem": text})
        return None

    def render_columns(
        self,
        request: TenantRequest,
        job: Job,
        form: ColumnsForm,
        rights: NewMemberRightsForm | None,
        layout: LayoutForm | None = None,
    ) -> HttpResponse:
        file, kind = job.sheet.file, form.kind
        product = find_product(file.headings) if kind.has_groups else None
        context = {
            "job": job, "url": kinds.page_address(job), "chip": job_chip(job), "base": self.base, "form": form,
            "rights_form": rights, "layout_form": layout or LayoutForm(file), "doubts": lists.doubt_texts(file),
            "facts": lists.layout_texts(file), "product": product.name if product else "",
            "is_members": kind.has_groups, "clear_word": lists.clear_words_text(),
        }  # fmt: skip
        return render(request, "imports/columns.html", context)

    def urls(self, path_prefix: str = "<int:job_id>/", name_prefix: str = "") -> list[URLPattern]:
        """Return the URLs of the forms."""
        may = tenant_view(self.permission, methods=["GET", "POST"])
        return [
            path(f"{path_prefix}columns/", may(self._columns), name=f"{name_prefix}columns"),
            path(f"{path_prefix}layout/", may(self._layout), name=f"{name_prefix}layout"),
        ]

    def _columns(self, request: TenantRequest, job_id: int) -> HttpResponse:
        job = self.find_job(request, job_id)
        if not _can_choose(job):
            return redirect(kinds.page_address(job))
        posted = request.POST if request.method == "POST" else None
        form, rights = ColumnsForm(job, posted), rights_form(request, job, posted)
        if not all([form.is_valid(), rights is None or rights.is_valid()]):
            return self.render_columns(request, job, form, rights)
        done = actions.choose_columns(
            by=Requester.from_request(request), job=job, chosen=form.chosen, options=form.options,
            default_group=form.cleaned_data.get("default_group", ""),
            rights=rights_to_save(rights) if rights else {},
        )  # fmt: skip
        if done:
            self.on_chosen(job)
        else:
            messages.error(request, _("It has already started. Its columns were not changed."))
        return redirect(kinds.page_address(job))

    def _layout(self, request: TenantRequest, job_id: int) -> HttpResponse:
        job = self.find_job(request, job_id)
        if request.method != "POST" or not _can_choose(job):
            return redirect(kinds.page_address(job))
        form = LayoutForm(job.sheet.file, request.POST)
        if form.is_valid():
            try:
                actions.read_again(by=Requester.from_request(request), job=job, layout=form.chosen)
            except FileFault as fault:
                form.add_error(None, lists.file_problem_text(fault.code, fault.values))
            else:
                return redirect(kinds.page_address(job))
        return self.render_columns(request, job, ColumnsForm(job), rights_form(request, job), form)


def _can_choose(job: Job) -> bool:
    """Return whether the file is stored and its import has not started."""
    return job.state in actions.BEFORE_START and hasattr(job, "sheet")


def rights_form(request: TenantRequest, job: Job, posted: QueryDict | None = None) -> NewMemberRightsForm | None:
    """Return the form for new members' rights; None if there are none, or this person may not change rights."""
    if job.kind != KIND or not request.access.can(Permission.RIGHTS_EDIT):
        return None
    return NewMemberRightsForm(posted, initial=initial_rights(job.sheet.rights))


def show_job(request: TenantRequest, job: Job) -> HttpResponseBase:
    """Show the page for the import's state."""
    if page := SHEETS.show(request, job):
        return page
    view = JobPage(request, job)
    if job.state == JobState.CHECKED:
        return _render_checked(view, job)
    view.context |= undo_context(job)
    return render_started_job(view, SentRows, "imports/sent.html")


def check_context(job: Job) -> dict[str, Any]:
    """Return what the preview of every kind of files shows. A list of an earlier version has no stored file."""
    sheet = getattr(job, "sheet", None)
    if sheet is None:
        return {}
    unknown = unknown_headings(sheet.file.headings, sheet.columns)
    return {"findings": lists.findings_texts(job), "unknown_columns": unknown, "doubts": lists.doubt_texts(sheet.file)}


def _render_checked(view: JobPage, job: Job) -> HttpResponse:
    counts, noted = jobs.count_rows(job), jobs.count_noted(job)
    connection, creates = view.connection, counts.by_action(Action.CREATE)
    offered = tabs_of(view, [
        (ATTENTION, _("Needs attention"), counts.by_action(Action.REFUSED) + noted),
        ("", _("All"), counts.rows),
        (Action.CREATE, _("New"), creates),
        (Action.UPDATE, _("Will change"), counts.by_action(Action.UPDATE)),
        (Action.SAME, _("Unchanged"), counts.by_action(Action.SAME)),
        (Action.REFUSED, Action.REFUSED.label, counts.by_action(Action.REFUSED)),
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
        **check_context(job),
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


template = views.template_view(MAY_RUN, MEMBER.sheet_columns, "members")

FIND_JOB = job_finder(KIND, "sheet__file")
SHEETS = SheetPages(MAY_RUN, FIND_JOB, "imports/base.html", lambda job: reverse("imports:new", args=[job.tenant.slug]))
JOBS = JobPages(
    MAY_RUN,
    find_job=FIND_JOB,
    show_job=show_job,
    home_address=lambda job: reverse("imports:index", args=[job.tenant.slug]),
    discarded_text=gettext_lazy("Discarded. Nothing was sent and the file was deleted."),
    retry=actions.retry,
    undo=actions.undo,
    discard=actions.discard,
    uploaded_cells=lists.cells_of_lines,
    sheet_title="members",
)
