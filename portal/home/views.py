"""A tenant's home: what needs somebody, what is under way, and how well the service is known."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from portal.home import queries
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.TENANT_VIEW)
def index(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "home/index.html",
        {
            "home": queries.home(request),
            "may_see_connection": request.access.can(Permission.CONNECTION_VIEW),
        },
    )
