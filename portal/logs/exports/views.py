"""Exports of the log: asked for with the filters of the list, followed, downloaded by whoever may see the log."""

from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from portal.core.files.writing import send_made
from portal.core.intents.record import Asker
from portal.core.jobs import acts, filing, kinds, queries
from portal.core.jobs.models import Job
from portal.core.jobs.pages import View, progress_of_file
from portal.core.jobs.states import ALIVE, JobState
from portal.core.jobs.views import Pages, of_family
from portal.core.log import filters
from portal.logs.exports import actions, files
from portal.logs.exports.forms import ExportForm
from portal.logs.exports.lists import Exports
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission, Proof

VIEW = Permission.LOGS_VIEW
_FILTERS = ("q", *(each.name for each in filters.FILTERS))


@tenant_view(VIEW)
def index(request: TenantRequest) -> HttpResponse:
    return Exports(request, queries.jobs(actions.KIND)).respond("logs/exports.html")


@tenant_view(VIEW, methods=["GET", "POST"], proof=Proof.SHORT)
def ask(request: TenantRequest) -> HttpResponse:
    """Ask for the present filters as a file.

    Like members with their card numbers, only whoever has proven lately who they are: the file has where everybody
    went for a year.
    """
    query, form = _filters(request.GET), ExportForm(request.POST or None)
    count = actions.about(query)
    if form.is_valid():
        told, kind = files.told(request, query), form.cleaned_data["kind"]
        job = actions.ask(by=Asker.of(request), query=query, kind=kind, count=count, told=told)
        return redirect(kinds.page(job))
    asked = filters.in_words(request, query)
    context = {"form": form, "count": count, "minutes": files.minutes(count), "asked": asked}
    context["match"] = query.urlencode()
    return render(request, "logs/export.html", context)


def _filters(asked: QueryDict) -> QueryDict:
    """The filters of an address, without its place and order."""
    kept = QueryDict(mutable=True)
    for name in _FILTERS:
        if values := [value for value in asked.getlist(name) if value]:
            kept.setlist(name, values)
    return kept


def _page(request: TenantRequest, job: Job) -> HttpResponse:
    view = View(request, job)
    view.context |= {
        "progress": progress_of_file(job),
        "final": job.state not in ALIVE,
        "stopped": job.state == JobState.STOPPED and job.erased_at is None,
        "ready": _is_ready(job),
        "deleted_at": filing.deleted_at(job),
        "asked": job.options.get("told", []),
    }
    return render(request, "logs/export_job.html", view.context)


def _is_ready(job: Job) -> bool:
    return job.state == JobState.DONE and job.erased_at is None


EXPORTS = Pages(
    VIEW,
    find=of_family(actions.KIND),
    page=_page,
    home=lambda job: reverse("logs:exports", args=[job.tenant.slug]),
    proof=Proof.NONE,
    progress=progress_of_file,
)


@tenant_view(VIEW, file=True)
def file(request: TenantRequest, job_id: int) -> HttpResponseBase:
    """The file of a finished export; each download is written down first."""
    job = EXPORTS.find(request, job_id=job_id)
    if not _is_ready(job):
        raise Http404
    acts.downloaded(by=Asker.of(request), job=job, rows=job.looked_at)
    kind = job.options["format"]
    return send_made(files.stream(job), kind=kind, name=f"activity-log-{request.tenant.slug}-{job.pk}")
