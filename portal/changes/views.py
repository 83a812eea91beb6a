"""Views of bulk changes: the list, the form, the preview and the result."""

import unicodedata
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.files.writing import KINDS
from portal.base.ui.tables import file_response
from portal.base.ui.tables.columns import Column, EmptyState
from portal.base.ui.tables.table import Table
from portal.base.ui.url_lookup import ServiceId
from portal.base.ui.value_words import add_label, join_groups
from portal.changes import actions
from portal.changes.actions import BULK_CHANGES, posted_selection
from portal.domain.events import MirrorKind
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs import costs, kinds, queries, words
from portal.domain.jobs.lists import (
    ACTION_COLUMN,
    DETAIL_COLUMN,
    MEMBER_COLUMN,
    OUTCOME_COLUMN,
    JobRows,
    job_chip,
)
from portal.domain.jobs.models import Action, Job, JobState, Row
from portal.domain.jobs.pages import JobPage, render_started_job, render_table, tabs_of, undo_context
from portal.domain.jobs.views import JobPages, job_finder
from portal.domain.people.models import Group
from portal.domain.sync.models import MirrorState
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

_ids = ServiceId()


class Changes(Table):
    name = "changes"
    caption = gettext_lazy("Bulk changes")
    default_sort = "-id"
    columns = (
        Column(
            "what",
            pgettext_lazy("noun", "Change"),
            value=lambda job: str(kinds.kind_of(job).title_of(job)),
            phone="title",
            fixed=True,
        ),
        Column("state", gettext_lazy("State"), value=job_chip, fixed=True),
        Column("size", gettext_lazy("Members"), value="size", kind="number"),
        Column("starts", gettext_lazy("Date and time"), value="starts_at", kind="time"),
        Column("by", gettext_lazy("By"), value=lambda job: str(job.by)),
        Column("id", pgettext_lazy("moment", "Prepared"), value="created_at", kind="time", sort="id"),
        Column("finished", pgettext_lazy("moment", "Finished"), value="finished_at", kind="time"),
    )
    empty = EmptyState(
        gettext_lazy("No bulk changes yet"),
        gettext_lazy(
            "Select members in the list, then choose an action below it: suspend, extend, move, delete and more."
        ),
        "users",
        gettext_lazy("Open the members list"),
        lambda request: reverse("members:index", args=[request.tenant.slug]),
    )

    def row_href(self, row: Job) -> str:
        return kinds.page_address(row)


def _old(row: Row) -> str:
    return join_groups(add_label(old, field) for field, old, _new in words.changes_of(row))


def _new(row: Row) -> str:
    if row.action == Action.DELETE:
        return str(Action.DELETE.label)
    return join_groups(add_label(new, field) for field, _old, new in words.changes_of(row))


_FILE_ONLY: dict[str, Any] = {"shown": False, "phone": "hide"}
_WHO = Column(
    "who",
    gettext_lazy("Member"),
    value=lambda row: row.content["name"],
    cell=MEMBER_COLUMN.cell,
    phone="title",
    fixed=True,
)
_FILE = (
    Column("code", gettext_lazy("Member code"), value=lambda row: row.content["code"], kind="mono", **_FILE_ONLY),
    Column("member_id", gettext_lazy("Member ID"), kind="mono", **_FILE_ONLY),
    Column("old", gettext_lazy("Before"), value=_old, **_FILE_ONLY),
    Column("new", gettext_lazy("After"), value=_new, **_FILE_ONLY),
)
_WHAT = Column("detail", DETAIL_COLUMN.label, kind="detail", cell=DETAIL_COLUMN.cell, fixed=True, export=False)


# What happens to the member: shown where a job deletes some members and changes others.
_ACTION = Column("action", pgettext_lazy("noun", "Change"), value=ACTION_COLUMN.value, fixed=True, export=False)


class _ChangeRows(JobRows):
    exports = KINDS
    export_permission = Permission.MEMBERS_EXPORT

    def __init__(self, *args: Any, job: Job, **kwargs: Any) -> None:
        super().__init__(*args, job=job, **kwargs)
        if job.undo_of_id is None or not Row.objects.filter(job=job, action=Action.DELETE).exists():
            self.columns = [column for column in self.columns if column is not _ACTION]

    def row_href(self, row: Row) -> str:
        index = reverse("members:index", args=[self.request.tenant.slug])
        return f"{index}{_ids.to_url(row.member_id)}/" if row.member_id else ""


class PlannedRows(_ChangeRows):
    """The planned changes of a job."""

    name = "change-preview"
    caption = gettext_lazy("Changes")
    columns = (_WHO, _ACTION, _WHAT, *_FILE)


class ResultRows(_ChangeRows):
    """The results of a job's rows."""

    name = "change-rows"
    caption = gettext_lazy("Members and results")
    columns = (
        _WHO,
        _ACTION,
        OUTCOME_COLUMN,
        _WHAT,
        *_FILE,
        Column(
            "reason",
            gettext_lazy("Reason"),
            value=lambda row: join_groups(words.describe_row(row, row.job)),
            **_FILE_ONLY,
        ),
    )


def respond(request: TenantRequest, job: Job) -> HttpResponseBase:
    """Show the page for the job's state: preview or result."""
    view, kind = JobPage(request, job), kinds.kind_of(job)
    view.context |= {
        "title": kind.title_of(job),
        "may": request.access.can(job.permission),
        "left_out": actions.left_out_of_job(job),
        "can_undo": kind.can_undo,
        "undoes_url": queries.page_for(request.access, job.undo_of) if job.undo_of is not None else "",
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
        "updates": updates,
        "deletes": deletes,
        "cost": costs.cost_of_rows(connection, updates=updates, deletes=deletes, reads=costs.count_needed_reads(job)),
        "connected": connection.is_connected,
        "as_of": MirrorState.objects.filter(kind=MirrorKind.MEMBERS).values_list("as_of", flat=True).first(),
        "typed": view.request.POST.get("typed", ""),
    }
    tabs = [("", _("All"), counts.rows)]
    if updates and deletes:
        tabs += [(Action.DELETE, _("Will delete"), deletes), (Action.UPDATE, _("Will change"), updates)]
    return render_table(view, PlannedRows, tabs_of(view, tabs), "changes/preview.html")


def _result(view: JobPage) -> HttpResponse:
    view.context |= {**undo_context(view.job), "waiting": view.job.state == JobState.WAITING}
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
    may = {"may_change": request.access.can(Permission.MEMBERS_EDIT)}
    return Changes(request, queries.jobs_of_family(FAMILY)).respond("changes/index.html", may)


@tenant_view(VIEW, methods=["GET", "POST"], redraw_values={"preview": ""})
def new(request: TenantRequest, change_name: str) -> HttpResponse:
    """Show the form of a bulk change for the members selected in a list."""
    change = BULK_CHANGES.get(change_name)
    if change is None:
        raise Http404
    request.access.check(change.permission)
    chosen = posted_selection(request)
    count = chosen.count() if request.method == "POST" else 0
    if not count or count > job_actions.MAX_JOB_ROWS:
        messages.error(request, _selection_error(count))
        return redirect("members:index", request.tenant.slug)
    form = change.form(request.POST if "preview" in request.POST else None)
    if form.is_valid():
        job, plan = actions.prepare(by=Requester.from_request(request), change=change, form=form, selection=chosen)
        if job is not None:
            return redirect(kinds.page_address(job))
        form.add_error(None, actions.no_change_text(plan))
    context = {"change": change, "form": form, "count": count, "fields": {**chosen.fields, "preview": "1"}}
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
    find_job=job_finder(FAMILY, "undo_of__tenant"),
    show_job=respond,
    home_address=lambda job: reverse("changes:index", args=[job.tenant.slug]),
    reason_not_to_start=_confirm,
)
