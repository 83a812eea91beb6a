"""The activity log: the list, and what pages of people and places ask for anew while somebody looks."""

from django.http import Http404, HttpResponse
from django.shortcuts import render

from portal.core.log.happened import ABOUT, Happened
from portal.core.log.lists import Records
from portal.core.ui import panels, watching
from portal.core.ui.addresses import within
from portal.core.ui.tables.filters import Address
from portal.logs import searches
from portal.logs.people import find
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


class Listed(Records):
    """The records with the tenant's saved searches above them, which follow its filters."""

    along = "logs/above.html"


@tenant_view(Permission.LOGS_TODAY)
def index(request: TenantRequest) -> HttpResponse:
    panels.want("log", request)
    searches.want(request)
    return Listed(request).respond("logs/index.html")


@tenant_view(Permission.LOGS_TODAY)
def happened(request: TenantRequest) -> HttpResponse:
    """The newest records about a person, door or area: a part of the pages that are about them."""
    about = next((name for name in ABOUT if request.GET.get(name)), "")
    if not about:
        raise Http404
    here = Happened(request, about, [value for value in request.GET.getlist(about) if "\x00" not in value][:200])
    if watching.has_seen(request, here.seen):
        return watching.unchanged()
    return render(request, "log/happened.html", {"here": here})


@tenant_view(Permission.LOGS_TODAY)
def people(request: TenantRequest) -> HttpResponse:
    """The people that a name or a code finds, each leading to their records: a page, or its hits for the filter."""
    asked = Address(within("logs:index", request.tenant.slug), request.GET)
    text = asked.get("find").strip()[:100]
    context = {"text": text, "found": find(request.access, text, asked)}
    if request.htmx:
        return render(request, "logs/people_found.html", context)
    page = {"carried": asked.kept("find"), "back": asked.with_(find=None)}
    return render(request, "logs/people.html", context | page)
