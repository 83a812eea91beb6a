"""Views of bulk changes: the form, the preview and the result."""

import unicodedata
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.base.ui.tables import file_response
from portal.changes import actions
from portal.changes.actions import BULK_CHANGES, posted_selection
from portal.changes.lists import Changes, PlannedRows, ResultRows
from portal.domain.events import MirrorKind
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs import costs, kinds, queries
from portal.domain.jobs.models import Action, Job, JobState, Row
from portal.domain.jobs.pages import JobPage, render_started_job, render_table, tabs_of
from portal.domain.jobs.views import JobPages, job_finder
from portal.domain.people.models import Group
from portal.domain.sync.models import MirrorState
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


def respond(request: TenantRequest, job: Job) -> HttpResponseBase:
    """Show the page for the job's state: preview or result."""
    view, kind = JobPage(request, job), kinds.kind_of(job)
    view.context |= {
        "title": kind.title_of(job),
        "may": request.access.can(job.permission),
        "left_out": actions.left_out_of_job(job),
        "deletes": Row.objects.filter(job=job, action=Action.DELETE).exists(),
        "can_undo": kind.can_undo,
    }
    file = _file(view) if "export" in request.GET else None
    if file is not None:
        return file
    return _preview(view) if job.state == JobState.CHECKED else _result(view)


def _preview(view: JobPage) -> HttpResponse:
    job, counts, connection = view.job, queries.count_rows(view.job), view.connection
    updates, deletes = counts.by_action(Action.UPDATE), counts.by_action(Action.DELETE)
    view.context |= {
        "counts": counts,
        "cost": costs.cost_of_rows(connection, updates=updates, deletes=deletes, reads=costs.count_needed_reads(job)),
        "connected": connection.is_connected,
        "as_of": MirrorState.objects.filter(kind=MirrorKind.MEMBERS).values_list("as_of", flat=True).first(),
        "typed": view.request.POST.get("typed", ""),
        "number": str(counts.to_send),
    }
    return render_table(view, PlannedRows, tabs_of(view, [("", _("All"), counts.rows)]), "changes/preview.html")


def _result(view: JobPage) -> HttpResponse:
    job = view.job
    undoing = job.undone_by.exclude(state=JobState.CHECKED).select_related("tenant").order_by("-id")
    undone = undoing.exclude(state=JobState.WAITING).first()
    view.context |= {
        "undone_by": undone,
        "ends_by": undoing.filter(state=JobState.WAITING).first(),
        "waiting": job.state == JobState.WAITING,
    }
    return render_started_job(view, ResultRows, "changes/job.html")


def _file(view: JobPage) -> HttpResponseBase | None:
    """Return all rows as a file, with old and new values and results; None if no file is allowed or requested."""
    rows = Row.objects.filter(job=view.job)
    names = dict(Group.objects.values_list("membergroup_id", "membergroup_name"))
    kind = PlannedRows if view.job.state == JobState.CHECKED else ResultRows
    listed = kind(view.request, rows, total=view.job.size, job=view.job, groups=names)
    if not listed.requested_file:
        return None
    record = partial(
        job_actions.record_download, by=Requester.from_request(view.request), job=view.job, rows=view.job.size
    )
    return file_response(listed, listed.requested_file, record=record)


FAMILY = "change"
VIEW = Permission.MEMBERS_VIEW
# To confirm a deletion, the person types the number of members or this word in either language.
_CONFIRM_WORDS = ("delete", "削除")


@tenant_view(VIEW)
def index(request: TenantRequest) -> HttpResponse:
    return Changes(request, queries.jobs_of_family(FAMILY)).respond("changes/index.html")


@tenant_view(VIEW, methods=["GET", "POST"], redraw_values={"preview": ""})
def new(request: TenantRequest, act: str) -> HttpResponse:
    """Show the form of a bulk change for the members selected in a list."""
    wanted = BULK_CHANGES.get(act)
    if wanted is None:
        raise Http404
    request.access.check(wanted.permission)
    chosen = posted_selection(request)
    count = chosen.count() if request.method == "POST" else 0
    if not count or count > job_actions.MAX_JOB_ROWS:
        messages.error(request, _selection_error(count))
        return redirect("members:index", request.tenant.slug)
    form = wanted.form(request.POST if "preview" in request.POST else None)
    if form.is_valid():
        job, plan = actions.prepare(by=Requester.from_request(request), change=wanted, form=form, selection=chosen)
        if job is not None:
            return redirect(kinds.page_address(job))
        form.add_error(None, actions.no_change_text(plan))
    context = {"act": wanted, "form": form, "count": count, "fields": {**chosen.fields, "preview": "1"}}
    return render(request, "changes/ask.html", context)


def _selection_error(count: int) -> str:
    if count:
        return _("At most %(n)s members can be changed at once. Narrow the list.") % {
            "n": f"{job_actions.MAX_JOB_ROWS:,}"
        }
    return _("Select members first.")


def _confirm(request: TenantRequest, job: Job) -> str:
    """Check the typed confirmation of a deletion: the number or the word. Full-width and separators are accepted."""
    count = Row.objects.filter(job=job, action=Action.DELETE).count()
    text = unicodedata.normalize("NFKC", request.POST.get("typed", "")).strip().casefold()
    if not count or text in _CONFIRM_WORDS or text.replace(",", "") == str(count):
        return ""
    return _("Type the number of members or the word “delete”. Nothing was sent.")


CHANGE_PAGES = JobPages(
    VIEW,
    find_job=job_finder(FAMILY, "undo_of"),
    show_job=respond,
    home_address=lambda job: reverse("changes:index", args=[job.tenant.slug]),
    reason_not_to_start=_confirm,
)
