"""Fresh proof of identity, before doors, connections and secrets."""

from __future__ import annotations

import time
from urllib.parse import urlencode, urlsplit

from allauth.account import app_settings
from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import get_authentication_records
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from tenants import carrying
from tenants.carrying import Carried


def recently_authenticated(request: HttpRequest) -> bool:
    """Return whether this session gave a password, code or passkey within ACCOUNT_REAUTHENTICATION_TIMEOUT seconds."""
    if not request.user.is_authenticated:
        return False
    latest = max((record["at"] for record in get_authentication_records(request, request.user)), default=0)
    return bool(time.time() - latest < app_settings.REAUTHENTICATION_TIMEOUT)


def redirect_to_reauthentication(
    request: HttpRequest, *, within: str, home: str, carried: Carried | None = None
) -> HttpResponseBase:
    """Ask for proof of identity, then return to the page. A form's action is not done and not kept, unless it is
    `carried` (tenants.carrying).

    The page is the requested one, or the one the form was on; `home` when that does not lie `within`.
    """
    carrying.forget(request)
    page = request.get_full_path()
    if carried is not None:
        page = carrying.keep(request, carried)
    elif request.method not in {"GET", "HEAD"}:
        page = _page_of_the_form(request, within=within, home=home)
        messages.info(request, _("Nothing was done yet. Confirm it's you, then try again."))
    target = f"{_first_way(request)}?{urlencode({'next': page})}"
    if getattr(request, "htmx", False):
        return HttpResponse(status=204, headers={"HX-Redirect": target})
    return redirect(target)


def _first_way(request: HttpRequest) -> str:
    """Return the confirmation page that suits this person best (tenants.staff.adapter)."""
    ways = get_adapter().get_reauthentication_methods(request.user)
    return str(ways[0]["url"]) if ways else reverse("account_reauthenticate")


def page_asked_for(request: HttpRequest) -> str:
    """Return the address to go to after signing in: the requested page, or the page of a form or fragment."""
    if request.method in {"GET", "HEAD"} and not getattr(request, "htmx", False):
        return request.get_full_path()
    return _page_of_the_form(request, within="/", home="/")


def _page_of_the_form(request: HttpRequest, *, within: str, home: str) -> str:
    """Return the address of the page that a form or a fragment came from, if it lies `within`; else `home`."""
    address = request.headers.get("HX-Current-URL") or request.headers.get("Referer") or ""
    ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    parts = urlsplit(address)
    page = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return page if ours and page.startswith(within) else home
