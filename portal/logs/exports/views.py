"""Views of log exports: request with the list's filters, progress, and download for people who may see the log."""

from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from portal.base.files.writing import send_streamed_file
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs import file_executor, kinds
from portal.domain.jobs.models import Job
from portal.domain.jobs.pages import JobPage, progress_of_file
from portal.domain.jobs.queries import jobs_of_family
from portal.domain.jobs.states import ALIVE, JobState
from portal.domain.jobs.views import JobPages, job_finder
from portal.domain.log import filters
from portal.logs.exports import actions, files
from portal.logs.exports.forms import ExportForm
from portal.logs.exports.lists import Exports
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission, Proof

_EXPORT_FILTERS = ("q", *(each.name for each in filters.FILTERS))


@tenant_view(Permission.LOGS_VIEW)
def export_list(request: TenantRequest) -> HttpResponse:
    return Exports(request, jobs_of_family(actions.KIND)).respond("logs/exports.html")


@tenant_view(Permission.LOGS_VIEW, methods=["GET", "POST"], proof=Proof.SHORT)
def new_export(request: TenantRequest) -> HttpResponse:
    """Request a file with the present filters.

    As for members with card numbers, a recent proof of identity is needed: the file has the movements of all people for
    a year.
    """
    query, form = _chosen_filters(request.GET), ExportForm(request.POST or None)
    count = actions.estimate_count(query)
    if form.is_valid():
        told, kind = files.describe_file(request, query), form.cleaned_data["kind"]
        job = actions.start_export(
            by=Requester.from_request(request), query=query, kind=kind, count=count, description=told
        )
        return redirect(kinds.page_address(job))
    asked = filters.describe(request, query)
    context = {"form": form, "count": count, "minutes": files.estimate_minutes(count), "asked": asked}
    context["match"] = query.urlencode()
    return render(request, "logs/export.html", context)


def _chosen_filters(asked: QueryDict) -> QueryDict:
    """Return the filters of an address, without page and order."""
    kept = QueryDict(mutable=True)
    for name in _EXPORT_FILTERS:
        if values := [value for value in asked.getlist(name) if value]:
            kept.setlist(name, values)
    return kept


def _export_page(request: TenantRequest, job: Job) -> HttpResponse:
    view = JobPage(request, job)
    view.context |= {
        "progress": progress_of_file(job),
        "final": job.state not in ALIVE,
        "stopped": job.state == JobState.STOPPED and job.erased_at is None,
        "ready": _is_ready(job),
        "deleted_at": file_executor.deletion_due_at(job),
        "asked": job.options.get("told", []),
    }
    return render(request, "logs/export_job.html", view.context)


def _is_ready(job: Job) -> bool:
    return job.state == JobState.DONE and job.erased_at is None


EXPORTS = JobPages(
    Permission.LOGS_VIEW,
    find_job=job_finder(actions.KIND),
    show_job=_export_page,
    home_address=lambda job: reverse("logs:exports", args=[job.tenant.slug]),
    proof=Proof.NONE,
    describe_progress=progress_of_file,
)


@tenant_view(Permission.LOGS_VIEW, is_file=True)
def export_file(request: TenantRequest, job_id: int) -> HttpResponseBase:
    """Send the file of a finished export. Each download is recorded in the audit log first."""
    job = EXPORTS.find_job(request, job_id=job_id)
    if not _is_ready(job):
        raise Http404
    job_actions.record_download(by=Requester.from_request(request), job=job, rows=job.looked_at)
    kind = job.options["format"]
    return send_streamed_file(files.stream_file(job), kind=kind, name=f"activity-log-{request.tenant.slug}-{job.pk}")
