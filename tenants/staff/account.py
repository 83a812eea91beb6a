"""Pages of a person's own account, in addition to allauth's."""

from __future__ import annotations

from allauth.account.internal.flows.reauthentication import is_reauthentication_required
from allauth.mfa.recovery_codes.views import download_recovery_codes
from allauth.usersessions.views import list_usersessions
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from tenants.access import SignedInRequest
from tenants.models import AccountEvent
from tenants.reauthentication import SAFE_METHODS, is_recently_authenticated, redirect_to_reauthentication
from tenants.roles import Proof
from tenants.staff.history import newest_before, page


def sessions(request: SignedInRequest) -> HttpResponseBase:
    """Show the person's sessions. Ending other sessions needs fresh proof: the caller may be a stranger."""
    if request.method not in SAFE_METHODS and not is_recently_authenticated(request, Proof.SHORT):
        home = reverse("usersessions_list")
        return redirect_to_reauthentication(request, within=home, home=home)
    response: HttpResponseBase = list_usersessions(request)
    return response


def recovery_codes(request: SignedInRequest) -> HttpResponseBase:
    """Send the recovery codes as a file; after a proof of identity, from the page of the codes."""
    if is_reauthentication_required(request, app="allauth.mfa"):
        home = reverse("mfa_view_recovery_codes")
        return redirect_to_reauthentication(request, within=home, home=home, is_file=True)
    response: HttpResponseBase = download_recovery_codes(request)
    return response


vars(recovery_codes)["file"] = True


def history(request: SignedInRequest) -> HttpResponse:
    """Show the events of the person's account, newest first."""
    rows = AccountEvent.objects.filter(user=request.user)
    return render(request, "account/history.html", {"page": page(newest_before(rows, request), request)})
