"""Many members at once: what is asked, what would change, what came of it."""

import unicodedata
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.changes import actions, plans
from portal.changes.actions import ACTS, selection
from portal.changes.lists import Changes, Outcome, Preview
from portal.core.intents.record import Asker
from portal.core.jobs import acts, costs, kinds, queries
from portal.core.jobs.models import Job, Row
from portal.core.jobs.pages import View, sent, table, tabs
from portal.core.jobs.states import Action, JobState
from portal.core.jobs.views import Pages, of_family
from portal.core.mirror.kinds import Kind
from portal.core.mirror.models import Group, MirrorState
from portal.core.ui.tables import file_response
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


def respond(request: TenantRequest, job: Job) -> HttpResponseBase:
    """The page as the change's state wants it."""
    view, kind = View(request, job), kinds.kind_of(job)
    view.context |= {
        "title": kind.titled(job),
        "may": request.access.can(job.permission),
        "left_out": plans.of_job(job),
        "deletes": Row.objects.filter(job=job, action=Action.DELETE).exists(),
        "can_undo": kind.undo,
    }
    file = _file(view) if "export" in request.GET else None
    if file is not None:
        return file
    return _preview(view) if job.state == JobState.CHECKED else _started(view)


def _preview(view: View) -> HttpResponse:
    job, counts, connection = view.job, queries.counts(view.job), view.connection
    updates, deletes = counts.action(Action.UPDATE), counts.action(Action.DELETE)
    view.context |= {
        "counts": counts,
        "cost": costs.of_rows(connection, updates=updates, deletes=deletes, reads=costs.to_read(job)),
        "connected": connection.is_connected,
        "as_of": MirrorState.objects.filter(kind=Kind.MEMBERS).values_list("as_of", flat=True).first(),
        "typed": view.request.POST.get("typed", ""),
        "number": str(counts.to_send),
    }
    return table(view, Preview, tabs(view, [("", _("All"), counts.rows)]), "changes/preview.html")


def _started(view: View) -> HttpResponse:
    job = view.job
    undoing = job.undone_by.exclude(state=JobState.CHECKED).select_related("tenant").order_by("-id")
    undone = undoing.exclude(state=JobState.WAITING).first()
    view.context |= {
        "undone_by": undone,
        "ends_by": undoing.filter(state=JobState.WAITING).first(),
        "waiting": job.state == JobState.WAITING,
    }
    return sent(view, Outcome, "changes/job.html")


def _file(view: View) -> HttpResponseBase | None:
    """All rows with old, new and, once started, the outcome of each; None where this person gets no such file."""
    rows = Row.objects.filter(job=view.job)
    names = dict(Group.objects.values_list("membergroup_id", "membergroup_name"))
    kind = Preview if view.job.state == JobState.CHECKED else Outcome
    listed = kind(view.request, rows, total=view.job.size, job=view.job, groups=names)
    if not listed.wanted_file:
        return None
    record = partial(acts.downloaded, by=Asker.of(view.request), job=view.job, rows=view.job.size)
    return file_response(listed, listed.wanted_file, record=record)


FAMILY = "change"
VIEW = Permission.MEMBERS_VIEW
# What deletes is typed: its number, or this word in one of our languages.
_WORDS = ("delete", "削除")


@tenant_view(VIEW)
def index(request: TenantRequest) -> HttpResponse:
    return Changes(request, queries.jobs(FAMILY)).respond("changes/index.html")


@tenant_view(VIEW, methods=["GET", "POST"], redraws={"preview": ""})
def ask(request: TenantRequest, act: str) -> HttpResponse:
    """What has to be said about a change of the members that were selected in a list."""
    wanted = ACTS.get(act)
    if wanted is None:
        raise Http404
    request.access.check(wanted.permission)
    chosen = selection(request)
    count = chosen.count() if request.method == "POST" else 0
    if not count or count > acts.MOST_ROWS:
        messages.error(request, _nobody(count))
        return redirect("members:index", request.tenant.slug)
    form = wanted.form(request.POST if "preview" in request.POST else None)
    if form.is_valid():
        job, plan = actions.prepare(by=Asker.of(request), act=wanted, form=form, selection=chosen)
        if job is not None:
            return redirect(kinds.page(job))
        form.add_error(None, plans.nothing(plan))
    context = {"act": wanted, "form": form, "count": count, "fields": {**chosen.fields, "preview": "1"}}
    return render(request, "changes/ask.html", context)


def _nobody(count: int) -> str:
    if count:
        return _("At most %(n)s members can be changed at once. Narrow the list.") % {"n": f"{acts.MOST_ROWS:,}"}
    return _("Select members first.")


def _confirm(request: TenantRequest, job: Job) -> str:
    """Deletions need the number of members, or the word, typed; full width and separators are understood."""
    count = Row.objects.filter(job=job, action=Action.DELETE).count()
    text = unicodedata.normalize("NFKC", request.POST.get("typed", "")).strip().casefold()
    if not count or text in _WORDS or text.replace(",", "") == str(count):
        return ""
    return _("Type the number of members or the word “delete”. Nothing was sent.")


JOBS = Pages(
    VIEW,
    find=of_family(FAMILY, "undo_of"),
    page=respond,
    home=lambda job: reverse("changes:index", args=[job.tenant.slug]),
    confirm=_confirm,
)
