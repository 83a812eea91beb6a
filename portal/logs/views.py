"""Views of the activity log: the list, and parts of other pages that are updated automatically."""

from django.http import Http404, HttpResponse
from django.shortcuts import render

from portal.base.ui import live_updates, panels
from portal.base.ui.tables.filters import ListAddress
from portal.base.ui.url_lookup import url_in_tenant
from portal.domain.log.recent_records import SUBJECTS, RecentRecords
from portal.logs import searches
from portal.logs.exports.lists import LogTable
from portal.logs.people import find_people
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


@tenant_view(Permission.LOGS_TODAY)
def index(request: TenantRequest) -> HttpResponse:
    panels.prefetch("log", request)
    searches.prefetch(request)
    return LogTable(request).respond("logs/index.html")


@tenant_view(Permission.LOGS_TODAY)
def happened(request: TenantRequest) -> HttpResponse:
    """Show the newest records about a person, door or area, as a part of their page."""
    about = next((name for name in SUBJECTS if request.GET.get(name)), "")
    if not about:
        raise Http404
    here = RecentRecords(request, about, [value for value in request.GET.getlist(about) if "\x00" not in value][:200])
    if live_updates.is_up_to_date(request, here.version):
        return live_updates.unchanged_response()
    return render(request, "log/happened.html", {"here": here})


@tenant_view(Permission.LOGS_TODAY)
def people(request: TenantRequest) -> HttpResponse:
    """Show the people that match a name or a code, as a page or as results for the filter.

    Each links to their records.
    """
    asked = ListAddress(url_in_tenant("logs:index", request.tenant.slug), request.GET)
    text = asked.get("find").strip()[:100]
    context = {"text": text, "found": find_people(request.access, text, asked)}
    if request.htmx:
        return render(request, "logs/people_found.html", context)
    page = {"carried": asked.hidden_inputs("find"), "back": asked.with_(find=None)}
    return render(request, "logs/people.html", context | page)
