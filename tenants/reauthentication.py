"""Fresh proof of identity: check its age, and ask for it. `tenants.roles` defines which permissions need one."""

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
    False: gettext_lazy("You were signed out, and nothing was changed. Your entries were not saved."),
}


class ProofRequired(Exception):
    """A file needs a newer proof of identity; `tenant_view` asks the person for it."""


def is_recently_authenticated(request: HttpRequest, proof: Proof, *, with_margin: bool = False) -> bool:
    """Return whether the last password, code or passkey of this session is recent enough for `proof`.

    With `with_margin`, ten minutes (at most half of the time) must be left when a page is opened: typed values would be
    lost if the proof expired.
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
    """Raise ProofRequired unless rows may be downloaded as a file now."""
    if not is_recently_authenticated(request, Proof.SHORT):
        raise ProofRequired


def redirect_to_reauthentication(
    request: HttpRequest, *, within: str, home: str, command: PendingCommand | None = None, is_file: bool = False
) -> HttpResponseBase:
    """Ask for proof of identity, then return to the page.

    The `command`, if any, is carried out then. Any other form is shown again with its values. With `is_file`, the file
    is downloaded from the page of its link. The page is the requested one, or the page of the form or link; `home` if
    that is not `within`.
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
    """Redirect to the sign-in page, then return to the requested page, or to the page of the form or fragment.

    The form is not sent then: it is shown again with its values.
    """
    page = requested_page(request)
    if request.method not in SAFE_METHODS:
        saved_page = interrupted_requests.save_form(request, page, is_trusted=False)
        page = saved_page or page
        messages.info(request, _SIGNED_OUT_MESSAGES[bool(saved_page)])
    return _redirect(request, redirect_to_login(page).url)


def restore_expired_form(request: HttpRequest) -> HttpResponseBase | None:
    """Return a redirect to an expired page's form, with its values; None if this person may not see it."""
    if not request.user.is_authenticated:
        return redirect_to_sign_in(request) if interrupted_requests.has_known_opener(request) else None
    page = interrupted_requests.save_form(request, requested_page(request), is_trusted=False)
    return _redirect(request, page) if page else None


def _redirect(request: HttpRequest, target: str) -> HttpResponseBase:
    if getattr(request, "htmx", False):
        return HttpResponse(status=204, headers={"HX-Redirect": target})
    return redirect(target)


def _confirmation_page(request: HttpRequest) -> str:
    """Return the best confirmation page for this person (`tenants.staff.adapter`)."""
    methods = get_adapter().get_reauthentication_methods(request.user)
    return str(methods[0]["url"]) if methods else reverse("account_reauthenticate")


def requested_page(request: HttpRequest) -> str:
    """Return the address to go to after signing in: the requested page, or the page of a form or fragment."""
    if request.method in {"GET", "HEAD"} and not getattr(request, "htmx", False):
        return request.get_full_path()
    return form_page(request, within="/", home="/")


def form_page(request: HttpRequest, *, within: str, home: str) -> str:
    """Return the address of the page of a form, a fragment or a file's link, if it is `within`.

    If no page opens there, return the nearest one above the address; else `home`.
    """
    address = request.headers.get("HX-Current-URL") or request.headers.get("Referer") or ""
    ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    parts = urlsplit(address if ours else "")  # an invalid address would raise an error
    page = f"{parts.path}?{parts.query}" if parts.query else parts.path
    if ours and page.startswith(within) and _has_page(parts.path):
        return page
    return nearest_page(request.path, within=within, home=home)


def nearest_page(address: str, *, within: str = "/", home: str = "/") -> str:
    """Return the address if a page opens there, else the nearest one above it that is `within`; else `home`."""
    above = urlsplit(address).path
    if above.startswith(within) and _has_page(above):
        return address
    named = set(_url_arguments(above))
    while above.startswith(within) and len(above) > 1:
        # A fixed word of the form's address must not be taken for the ID of an object's page.
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
    """Return whether a page can be opened at this address: not a file, and not an address for POST alone."""
    try:
        view = resolve(path).func
    except Resolver404:
        return False
    return "GET" in getattr(view, "methods", SAFE_METHODS) and not getattr(view, "file", False)
