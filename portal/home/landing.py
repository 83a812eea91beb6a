"""Where somebody lands who names no tenant."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from tenants.access import tenants_of


def landing(request: HttpRequest) -> HttpResponse:
    """The only tenant's home, the platform's board for platform staff, or a choice."""
    found = tenants_of(request.user)
    if request.user.platform_role:
        return redirect("platform:index")
    if len(found) == 1:
        return redirect(found[0][0])
    return render(request, "home/landing.html", {"tenants": found})
