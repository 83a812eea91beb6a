"""The activity log: the list, and what pages of people and places ask for anew while somebody looks."""

from django.http import Http404, HttpResponse
from django.shortcuts import render

from portal.core.log.lists import ActivityLogTable
from portal.core.log.recent_records import SUBJECTS, RecentRecords
from portal.core.ui import live_updates, panels
from portal.core.ui.tables.filters import ListAddress
from portal.core.ui.url_lookup import url_in_tenant
from portal.logs import searches
from portal.logs.people import find_people
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


class LogTable(ActivityLogTable):
    """The records with the tenant's saved searches above them, which follow its filters."""

    extra_template = "logs/above.html"


@tenant_view(Permission.LOGS_TODAY)
def index(request: TenantRequest) -> HttpResponse:
    panels.prefetch("log", request)
    searches.prefetch(request)
    return LogTable(request).respond("logs/index.html")


@tenant_view(Permission.LOGS_TODAY)
def happened(request: TenantRequest) -> HttpResponse:
    """The newest records about a person, door or area: a part of the pages that are about them."""
    about = next((name for name in SUBJECTS if request.GET.get(name)), "")
    if not about:
        raise Http404
    here = RecentRecords(request, about, [value for value in request.GET.getlist(about) if "\x00" not in value][:200])
    if live_updates.is_up_to_date(request, here.version):
        return live_updates.unchanged_response()
    return render(request, "log/happened.html", {"here": here})


@tenant_view(Permission.LOGS_TODAY)
def people(request: TenantRequest) -> HttpResponse:
    """The people that a name or a code finds, each leading to their records: a page, or its hits for the filter."""
    asked = ListAddress(url_in_tenant("logs:index", request.tenant.slug), request.GET)
    text = asked.get("find").strip()[:100]
    context = {"text": text, "found": find_people(request.access, text, asked)}
    if request.htmx:
        return render(request, "logs/people_found.html", context)
    page = {"carried": asked.hidden_inputs("find"), "back": asked.with_(find=None)}
    return render(request, "logs/people.html", context | page)
