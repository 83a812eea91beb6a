"""Small promises that hold for every answer of the site."""

from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from portal.core.ui import form_refilling
from tenants import client_addresses, interrupted_requests
from tenants.reauthentication import redirect_to_sign_in
from tenants.vault import VaultError

log = structlog.get_logger(__name__)
GetResponse = Callable[[HttpRequest], HttpResponse]


def reject_nul(get_response: GetResponse) -> GetResponse:
    """A NUL cannot be stored by PostgreSQL, and no form or address of ours needs one: refused before any view."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return HttpResponseBadRequest(
                _("The address contains a character that cannot be used. Nothing was changed.")
            )
        return get_response(request)

    return middleware


def allow_probes_by_any_host(get_response: GetResponse) -> GetResponse:
    """Answer probes whatever host they ask by: a load balancer knows the machine's address alone."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path in settings.PROBES:
            request.META["HTTP_HOST"] = settings.PORTAL_HOST
        return get_response(request)

    return middleware


class ReportUnreadableSecrets:
    """Say so when a page needs a stored secret that VAULT_KEYS does not open."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, VaultError):
            return None
        log.error("secret_not_read", exc_info=exception)
        return render(request, "503.html", status=503)


def set_client_address(get_response: GetResponse) -> GetResponse:
    """From here on REMOTE_ADDR is the client's address, and no header says otherwise: limits, logs and the audit log
    all read it there.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        address = client_addresses.client_address(request, settings.TRUSTED_PROXIES)
        request.META["REMOTE_ADDR"] = address
        with client_addresses.using_address(address):
            return get_response(request)

    return middleware


class RequireSignIn(LoginRequiredMiddleware):
    """Nobody who is not signed in sees anything; whoever signs in comes back to a page, never to a form's address."""

    def handle_no_permission(  # type: ignore[override]  # htmx is sent there by a header
        self, request: HttpRequest, view_func: Any
    ) -> HttpResponseBase:
        return redirect_to_sign_in(request)


def set_permissions_policy(get_response: GetResponse) -> GetResponse:
    """Allow a page what the portal uses (pictures of faces, passkeys, a wall of cameras in full size), and no more."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY
        return response

    return middleware


def clear_storage_on_sign_out(get_response: GetResponse) -> GetResponse:
    """Whoever signs out takes along what pages left in the browser: a roll call rests there (decision 66)."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        match = request.resolver_match
        if match and match.view_name == "account_logout" and not request.user.is_authenticated:
            response["Clear-Site-Data"] = '"storage"'
        return response

    return middleware


def mark_invalid_forms(get_response: GetResponse) -> GetResponse:
    """Answer 422 when a form was posted and its page shows what has to be corrected, in every area alike."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.method == "POST" and response.status_code == 200 and getattr(request, "shows_errors", False):
            response.status_code = 422
        return response

    return middleware


def prevent_caching(get_response: GetResponse) -> GetResponse:
    """Pages of signed-in people hold personal data: no cache, on the way or in the browser, keeps them."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.user.is_authenticated and "Cache-Control" not in response:
            add_never_cache_headers(response)
        return response

    return middleware


def restore_unsent_form(get_response: GetResponse) -> GetResponse:
    """Fill in again what could not be sent, on the page it came from, and start the download that waited for a proof.

    What is sent from there is forgotten first: going back must not offer it a second time.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.method == "POST":
            interrupted_requests.discard_when_sent(request)
        if (
            request.method != "GET"
            or interrupted_requests.TOKEN_PARAMETER not in request.GET
            or not request.user.is_authenticated
        ):
            return get_response(request)
        kept = interrupted_requests.find(request)
        response = get_response(request)
        is_page = not response.streaming and response.get("Content-Type", "").startswith("text/html")
        if response.status_code in (200, 422) and is_page and not getattr(request, "htmx", False):
            _insert_unsent_form(request, response, kept)
        return response

    return middleware


def _insert_unsent_form(
    request: HttpRequest, response: HttpResponse, kept: interrupted_requests.InterruptedRequest | None
) -> None:
    text = response.content.decode(response.charset)
    if kept is not None and kept.is_file:
        # By the browser itself, so that the page stays and no script is needed.
        response["Refresh"] = f"1; url={kept.address}"
    filled = form_refilling.refill_form(text, request.path, kept or interrupted_requests.InterruptedRequest(""))
    notice = render_to_string("components/unsent.html", {"kept": kept, "filled": filled})
    response.content = filled.text[: filled.notice_position] + notice + filled.text[filled.notice_position :]
