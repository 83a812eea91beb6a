"""A tenant's overview: what needs somebody, doors, guests of today, running work, and what ends soon."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from portal.core.ui import watching
from portal.home import queries
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.TENANT_VIEW)
def index(request: HttpRequest) -> HttpResponse:
    """The page; while somebody looks, the part of it that moves."""
    if not watching.is_asked(request):
        context = {"home": queries.home(request), "may_see_connection": request.access.can(Permission.CONNECTION_VIEW)}
        return render(request, "home/index.html", context)
    home = queries.now(request)
    if watching.has_seen(request, home.seen):
        return watching.unchanged()
    return render(request, "home/now.html", {"home": home})
