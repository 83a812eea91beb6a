"""Fresh proof of identity: how old it may be, and how it is asked for. `tenants.roles` says what asks which."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode, urlsplit

from allauth.account import app_settings
from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import get_authentication_records
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tenants import interrupted_requests, pending_commands
from tenants.pending_commands import PendingCommand
from tenants.roles import Proof

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_FORM_SECONDS = 600
_SIGNED_OUT_MESSAGES = {
    True: gettext_lazy("You were signed out, and nothing was changed. Sign in to see your entries again."),
    False: gettext_lazy("You were signed out, and nothing was changed. Your entries could not be kept."),
}


class ProofRequired(Exception):
    """A file would leave for a person who has not confirmed their identity lately; `tenant_view` asks them to."""


def is_recently_authenticated(request: HttpRequest, proof: Proof, *, with_margin: bool = False) -> bool:
    """Return whether this session gave a password, code or passkey within the seconds that such a proof counts.

    With `with_margin` ten minutes of them (at most half) must be left when a page is opened: what is typed there would
    be lost if the proof ran out.
    """
    if proof is Proof.NONE:
        return True
    if not request.user.is_authenticated:
        return False
    seconds = app_settings.REAUTHENTICATION_TIMEOUT if proof is Proof.SHORT else settings.LONG_PROOF_SECONDS
    if with_margin and request.method in SAFE_METHODS:
        seconds -= min(_FORM_SECONDS, seconds // 2)
    latest = max((record["at"] for record in get_authentication_records(request, request.user)), default=0)
    return bool(time.time() - latest < seconds)


def require_proof_for_file(request: HttpRequest) -> None:
    """Raise Unproven unless rows may leave as a file now."""
    if not is_recently_authenticated(request, Proof.SHORT):
        raise ProofRequired


def redirect_to_reauthentication(
    request: HttpRequest, *, within: str, home: str, command: PendingCommand | None = None, is_file: bool = False
) -> HttpResponseBase:
    """Ask for proof of identity, then return to the page. A command that is `command` is done then; any other form is
    shown again as it was filled in, and a `is_file` is downloaded from the page that its link was on.

    The page is the requested one, or the one the form or link was on; `home` when that does not lie `within`.
    """
    pending_commands.discard(request)
    page = request.get_full_path()
    if command is not None:
        page = pending_commands.save(request, command)
    elif request.method not in SAFE_METHODS:
        page = form_page(request, within=within, home=home)
        page = interrupted_requests.save_form(request, page) or page
        messages.info(request, _("Nothing was done yet. Confirm it's you, then try again."))
    elif is_file:
        page = interrupted_requests.save_download(request, form_page(request, within=within, home=home))
        messages.info(request, _("Confirm it's you. Then the download starts."))
    return _redirect(request, f"{_confirmation_page(request)}?{urlencode({'next': page})}")


def redirect_to_sign_in(request: HttpRequest) -> HttpResponseBase:
    """Ask who is there, then return to the page that was asked for, or that a form or fragment was on.

    A form is not sent afterwards: it is shown again as it was filled in.
    """
    page = requested_page(request)
    if request.method not in SAFE_METHODS:
        kept = interrupted_requests.save_form(request, page, is_trusted=False)
        page = kept or page
        messages.info(request, _SIGNED_OUT_MESSAGES[bool(kept)])
    return _redirect(request, redirect_to_login(page).url)


def restore_expired_form(request: HttpRequest) -> HttpResponseBase | None:
    """Return the way to an expired page's form, filled in again; None where that is not this person's to see."""
    if not request.user.is_authenticated:
        return redirect_to_sign_in(request) if interrupted_requests.has_known_opener(request) else None
    page = interrupted_requests.save_form(request, requested_page(request), is_trusted=False)
    return _redirect(request, page) if page else None


def _redirect(request: HttpRequest, target: str) -> HttpResponseBase:
    if getattr(request, "htmx", False):
        return HttpResponse(status=204, headers={"HX-Redirect": target})
    return redirect(target)


def _confirmation_page(request: HttpRequest) -> str:
    """Return the confirmation page that suits this person best (tenants.staff.adapter)."""
    ways = get_adapter().get_reauthentication_methods(request.user)
    return str(ways[0]["url"]) if ways else reverse("account_reauthenticate")


def requested_page(request: HttpRequest) -> str:
    """Return the address to go to after signing in: the requested page, or the page of a form or fragment."""
    if request.method in {"GET", "HEAD"} and not getattr(request, "htmx", False):
        return request.get_full_path()
    return form_page(request, within="/", home="/")


def form_page(request: HttpRequest, *, within: str, home: str) -> str:
    """Return the address of the page that a form, a fragment or a file's link was on, if it lies `within`; without a
    page that opens, the nearest one above the address; else `home`.
    """
    address = request.headers.get("HX-Current-URL") or request.headers.get("Referer") or ""
    ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    parts = urlsplit(address if ours else "")  # of an address that is none it would raise
    page = f"{parts.path}?{parts.query}" if parts.query else parts.path
    if ours and page.startswith(within) and _has_page(parts.path):
        return page
    return nearest_page(request.path, within=within, home=home)


def nearest_page(address: str, *, within: str = "/", home: str = "/") -> str:
    """Return the address if a page opens there, else the nearest one above it that lies `within`; else `home`."""
    above = urlsplit(address).path
    if above.startswith(within) and _has_page(above):
        return address
    named = set(_url_arguments(above))
    while above.startswith(within) and len(above) > 1:
        # A word of the form's address is no name of a thing, whose page it would look like.
        if _has_page(above) and set(_url_arguments(above)) <= named:
            return above
        above = above.rstrip("/").rpartition("/")[0] + "/"
    return home


def _url_arguments(path: str) -> Iterable[Any]:
    try:
        return resolve(path).kwargs.values()
    except Resolver404:
        return ()


def _has_page(path: str) -> bool:
    """Return whether a page can be opened at this address: no file, and not an address of forms alone."""
    try:
        view = resolve(path).func
    except Resolver404:
        return False
    return "GET" in getattr(view, "methods", SAFE_METHODS) and not getattr(view, "file", False)
