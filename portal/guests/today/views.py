"""The desk's day."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.GUESTS_VIEW)
def today(request: HttpRequest) -> HttpResponse:
    return render(request, "guests/today/index.html", {})
