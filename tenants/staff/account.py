"""Pages of a person's own account, beside allauth's."""

from __future__ import annotations

from allauth.usersessions.views import list_usersessions
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from tenants.access import SignedInRequest
from tenants.models import AccountEvent
from tenants.reauthentication import SAFE, recently_authenticated, redirect_to_reauthentication
from tenants.roles import Proof
from tenants.staff.history import newest, page


def sessions(request: SignedInRequest) -> HttpResponseBase:
    """Show where the person is signed in. To end the other sessions asks for fresh proof: it may be a stranger."""
    if request.method not in SAFE and not recently_authenticated(request, Proof.SHORT):
        home = reverse("usersessions_list")
        return redirect_to_reauthentication(request, within=home, home=home)
    response: HttpResponseBase = list_usersessions(request)
    return response


def history(request: SignedInRequest) -> HttpResponse:
    """Show what happened to the person's account, newest first."""
    rows = AccountEvent.objects.filter(user=request.user)
    return render(request, "account/history.html", {"page": page(newest(rows, request), request)})
