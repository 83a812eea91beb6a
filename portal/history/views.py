"""Views and forms of the activity log: the list, a record, a day of a person or a door, searches and exports."""

from datetime import datetime, timedelta
from functools import partial
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from portal.base.files.writing import send_streamed_file
from portal.base.ui import confirmation, live_updates, panels, times
from portal.base.ui.shown_values import ConflictForm
from portal.base.ui.tables.filters import ListAddress
from portal.base.ui.url_lookup import get_row_or_404, url_in_tenant
from portal.domain.history import filters, visibility
from portal.domain.history.lists import SUBJECTS, RecentRecords
from portal.domain.intents.recording import Requester
from portal.domain.jobs import actions as job_actions
from portal.domain.jobs import file_executor, kinds
from portal.domain.jobs.models import ALIVE, Job, JobState
from portal.domain.jobs.pages import JobPage, progress_of_file
from portal.domain.jobs.queries import jobs_of_family
from portal.domain.jobs.views import JobPages, job_finder
from portal.history import days, exports, person_timeline, searches
from portal.history.days import RecordType, day_or_404
from portal.history.lists import Exports, LogTable
from portal.history.models import NAME_MAX, SavedSearch
from portal.history.queries import find_people, person_or_404, place_or_404, record_context
from portal.history.searches import SearchNotSaved
from tenants.access import TenantRequest, tenant_view
from tenants.interrupted_requests import run_and_return
from tenants.roles import Permission, Proof


class ExportForm(forms.Form):
    """The form to choose the file type."""

    kind = forms.ChoiceField(
        label=pgettext_lazy("file", "Format"),
        choices=[("csv", gettext_lazy("CSV")), ("xlsx", gettext_lazy("Excel (XLSX)"))],
        initial="csv",
        widget=forms.RadioSelect,
    )


class SearchNameForm(forms.Form):
    """The form for the name of a saved search."""

    name = forms.CharField(
        label=pgettext_lazy("search", "Name"),
        max_length=NAME_MAX,
        error_messages={"required": pgettext_lazy("search", "Enter a name.")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class RenameSearchForm(ConflictForm, SearchNameForm):
    """The form to rename a saved search."""


@tenant_view(Permission.LOGS_TODAY)
def index(request: TenantRequest) -> HttpResponse:
    panels.prefetch("log", request)
    searches.prefetch(request)
    return LogTable(request).respond("history/index.html")


@tenant_view(Permission.LOGS_TODAY)
def happened(request: TenantRequest) -> HttpResponse:
    """Show the newest records about a person, door or area, as a part of their page."""
    about = next((name for name in SUBJECTS if request.GET.get(name)), "")
    if not about:
        raise Http404
    records = RecentRecords(
        request, about, [value for value in request.GET.getlist(about) if "\x00" not in value][:200]
    )
    return live_updates.render_update(request, records.version, "log/happened.html", {"recent": records})


@tenant_view(Permission.LOGS_TODAY)
def people(request: TenantRequest) -> HttpResponse:
    """Show the people that match a name or a code, as a page or as results for the filter.

    Each links to their records.
    """
    address = ListAddress(url_in_tenant("history:index", request.tenant.slug), request.GET)
    text = address.get("find").strip()[:100]
    context = {"text": text, "found": find_people(request.access, text, address)}
    if request.htmx:
        return render(request, "history/people_found.html", context)
    page = {"carried": address.hidden_inputs("find"), "back": address.with_(find=None)}
    return render(request, "history/people.html", context | page)


@tenant_view(Permission.LOGS_TODAY)
def record(request: TenantRequest, history_id: str) -> HttpResponse:
    """Show a record with all details from the service and with related records."""
    found = get_row_or_404(visibility.visible_records(request.access), history_id=history_id)
    setattr(request, "shown_record", found)  # noqa: B010 - so that panels of this page need no second query
    return render(request, "history/record.html", record_context(request, found))


@tenant_view(Permission.LOGS_TODAY)
def person_day(request: TenantRequest, member_id: str, day: str) -> HttpResponse:
    """Show a person's day as a timeline, with the table below it."""
    of = day_or_404(request, day, subject_id=member_id)
    catalogue = request.tenant.environment.catalogue
    found = list(
        person_timeline.records_on_day(visibility.visible_records(request.access), member_id, of)[
            : person_timeline.MAX_RECORDS + 1
        ]
    )
    records, who = found[: person_timeline.MAX_RECORDS], person_or_404(request.access, member_id, found)
    line = person_timeline.draw_timeline(of, records, catalogue)
    context = {
        "of": of,
        "subject": who,
        "page": "history:person_day",
        "line": line,
        "rows": [(each, line.marks[each.pk]) for each in records],
        "figures": person_timeline.day_figures(records, line),
        "sees_areas": request.access.can(Permission.AREAS_VIEW),
        "cut": len(found) > person_timeline.MAX_RECORDS,
        "most": person_timeline.MAX_RECORDS,
    }
    return render(request, "history/person_day.html", context)


@tenant_view(Permission.LOGS_TODAY)
def door_day(request: TenantRequest, device_id: str, day: str) -> HttpResponse:
    """Show a door's or a key box's day by the hour, with the table below it."""
    of = day_or_404(request, day, subject_id=device_id)
    place = place_or_404(request.access, device_id)
    catalogue = request.tenant.environment.catalogue
    records = days.records_at_door(visibility.visible_records(request.access), device_id, of)
    hours = days.count_hours(records, of, catalogue, partial(_address_of_hour, request, device_id))
    loud = hours.totals[RecordType.REFUSED] + hours.totals[RecordType.ALARM]
    context = {
        "of": of,
        "subject": place,
        "page": "history:door_day",
        "hours": hours,
        "loud": days.attention_records(records, catalogue) if loud else [],
        "loud_total": loud,
    }
    return render(request, "history/door_day.html", context)


def _address_of_hour(request: TenantRequest, device_id: str, start: datetime) -> str:
    """Return the address of a device's log in one hour."""
    last = start + timedelta(minutes=59, seconds=59)
    query = {"from": f"{start:%Y-%m-%dT%H:%M:%S}", "to": f"{last:%Y-%m-%dT%H:%M:%S}", "device": device_id}
    return f"{url_in_tenant('history:index', request.tenant.slug)}?{urlencode(query)}"


@tenant_view(Permission.LOGS_VIEW)
def search_list(request: TenantRequest) -> HttpResponse:
    return render(request, "history/searches.html", {"searches": searches.list_searches(request)})


@tenant_view(Permission.LOGS_VIEW, methods=["POST"])
def save_search(request: TenantRequest) -> HttpResponseBase:
    """Save the filters of the list above which the form is shown, and go back to the list."""
    form, query = SearchNameForm(request.POST), QueryDict(request.POST.get("query", ""), mutable=False)
    page, chosen = url_in_tenant("history:index", request.tenant.slug), filters.chosen_filters(query).urlencode()
    page = f"{page}?{chosen}" if chosen else page

    def save() -> None:
        if not form.is_valid():
            raise SearchNotSaved(" ".join(map(str, form.errors["name"])))
        searches.save(name=form.cleaned_data["name"], query=query, by=Requester.from_request(request))

    return run_and_return(request, page, save, SearchNotSaved, done=_("Search saved."), typed=True)


@tenant_view(Permission.LOGS_VIEW, methods=["GET", "POST"])
def search(request: TenantRequest, search_id: int) -> HttpResponseBase:
    found = get_row_or_404(SavedSearch.objects.all(), pk=search_id)
    form = RenameSearchForm(request.POST or None, initial={"name": found.name})
    if form.is_valid():
        try:
            searches.rename(search=found, name=form.cleaned_data["name"], by=Requester.from_request(request))
            return redirect("history:searches", request.tenant.slug)
        except SearchNotSaved as reason:
            form.add_error("name", str(reason))
    return render(request, "history/search.html", {"search": found, "form": form})


@tenant_view(Permission.LOGS_VIEW, methods=["GET", "POST"])
def delete_search(request: TenantRequest, search_id: int) -> HttpResponseBase:
    """Show a confirmation, then delete a saved search."""
    found = get_row_or_404(SavedSearch.objects.select_related("by"), pk=search_id)
    if request.method != "POST":
        return confirmation.ask(
            request,
            _("Delete “%(name)s”?") % {"name": found},
            submit=_("Delete search"),
            question=_("Saved by %(by)s, %(at)s. It is deleted for everyone. The activity log does not change.")
            % {"by": found.by, "at": times.moment_text(found.created_at)},
            cancel=reverse("history:searches", args=[request.tenant.slug]),
            crumbs=[(_("Activity log"), "history:index"), (_("Saved searches"), "history:searches")],
        )
    searches.delete(search=found, by=Requester.from_request(request))
    messages.success(request, _("Search deleted."))
    return redirect("history:searches", request.tenant.slug)


_EXPORT_FILTERS = ("q", *(each.name for each in filters.FILTERS))


@tenant_view(Permission.LOGS_VIEW)
def export_list(request: TenantRequest) -> HttpResponse:
    return Exports(request, jobs_of_family(exports.KIND)).respond("history/exports.html")


@tenant_view(Permission.LOGS_VIEW, methods=["GET", "POST"], proof=Proof.SHORT)
def new_export(request: TenantRequest) -> HttpResponse:
    """Request a file with the present filters.

    As for members with card numbers, a recent proof of identity is needed: the file has the movements of all people for
    a year.
    """
    query, form = _chosen_filters(request.GET), ExportForm(request.POST or None)
    count = exports.estimate_count(query)
    if form.is_valid():
        description, kind = exports.describe_file(request, query), form.cleaned_data["kind"]
        job = exports.start_export(
            by=Requester.from_request(request), query=query, kind=kind, count=count, description=description
        )
        return redirect(kinds.page_address(job))
    filter_lines = filters.describe(request, query)
    context = {"form": form, "count": count, "minutes": exports.estimate_minutes(count), "filter_lines": filter_lines}
    context["match"] = query.urlencode()
    return render(request, "history/export.html", context)


def _chosen_filters(query: QueryDict) -> QueryDict:
    """Return the filters of an address, without page and order."""
    chosen = QueryDict(mutable=True)
    for name in _EXPORT_FILTERS:
        if values := [value for value in query.getlist(name) if value]:
            chosen.setlist(name, values)
    return chosen


def _export_page(request: TenantRequest, job: Job) -> HttpResponse:
    view = JobPage(request, job)
    view.context |= {
        "progress": progress_of_file(job),
        "final": job.state not in ALIVE,
        "stopped": job.state == JobState.STOPPED and job.erased_at is None,
        "ready": _is_ready(job),
        "deleted_at": file_executor.deletion_due_at(job),
        "filter_lines": job.options.get("told", []),
    }
    return render(request, "history/export_job.html", view.context)


def _is_ready(job: Job) -> bool:
    return job.state == JobState.DONE and job.erased_at is None


EXPORTS = JobPages(
    Permission.LOGS_VIEW,
    find_job=job_finder(exports.KIND),
    show_job=_export_page,
    home_address=lambda job: reverse("history:exports", args=[job.tenant.slug]),
    proof=Proof.NONE,
    describe_progress=progress_of_file,
)


@tenant_view(Permission.LOGS_VIEW, is_file=True)
def export_file(request: TenantRequest, job_id: int) -> HttpResponseBase:
    """Send the file of a finished export. Each download is recorded in the audit log first."""
    job = EXPORTS.find_job(request, job_id=job_id)
    if not _is_ready(job):
        raise Http404
    job_actions.record_download(by=Requester.from_request(request), job=job, rows=job.checked_rows)
    kind = job.options["format"]
    return send_streamed_file(exports.stream_file(job), kind=kind, name=f"activity-log-{request.tenant.slug}-{job.pk}")
