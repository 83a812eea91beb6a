"""Where somebody lands who names no tenant."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from tenants.access import tenants_of
from tenants.landing import home_of


def landing(request: HttpRequest) -> HttpResponse:
    """The first page in the only tenant, the platform's board for platform staff, or a choice."""
    found = [(tenant, role, home_of(tenant, role.permissions)) for tenant, role in tenants_of(request.user)]
    if request.user.platform_role:
        return redirect("platform:index")
    if len(found) == 1:
        return redirect(found[0][2])
    return render(request, "home/landing.html", {"tenants": found})
