"""Middleware for rules that apply to every answer of the site.

`pace_polls` sets how often open pages poll: often while few are open, and never so often that other pages wait for
them. Each response to such a page has the seconds until its next request (`X-Again`, read by `static/js/live.js`). Each
process counts the pages that wait for their next request, and allows only a limited number of requests a second. The
response also reports whether the banners changed, so that a page sends one request for all.
"""

import heapq
import random
import threading
import time
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
from django_htmx.http import trigger_client_event

from portal.base.ui import form_refilling, live_updates
from portal.base.ui.frame import Frame
from tenants import client_addresses, interrupted_requests
from tenants.access import in_tenant
from tenants.reauthentication import redirect_to_sign_in
from tenants.scope import tenant_scope
from tenants.vault import VaultError

log = structlog.get_logger(__name__)
GetResponse = Callable[[HttpRequest], HttpResponse]


def reject_nul(get_response: GetResponse) -> GetResponse:
    """Refuse requests with a NUL character before any view.

    PostgreSQL cannot store it, and no form or address needs it.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return HttpResponseBadRequest(
                _("The address contains a character that cannot be used. Nothing was changed.")
            )
        return get_response(request)

    return middleware


def allow_probes_by_any_host(get_response: GetResponse) -> GetResponse:
    """Answer probes for any host name, because a load balancer knows only the machine's address."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path in settings.PROBES:
            request.META["HTTP_HOST"] = settings.PORTAL_HOST
        return get_response(request)

    return middleware


class ReportUnreadableSecrets:
    """Shows an error page when a page needs a stored secret that VAULT_KEYS cannot decrypt."""

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
    """Set REMOTE_ADDR to the client's address. Limits, logs and the audit log read the address only there."""

    def middleware(request: HttpRequest) -> HttpResponse:
        address = client_addresses.client_address(request, settings.TRUSTED_PROXIES)
        request.META["REMOTE_ADDR"] = address
        with client_addresses.using_address(address):
            return get_response(request)

    return middleware


class RequireSignIn(LoginRequiredMiddleware):
    """Requires sign-in for all pages. After signing in, people return to a page and never to a form's address."""

    def handle_no_permission(  # type: ignore[override]  # htmx requests are redirected by a header
        self, request: HttpRequest, view_func: Any
    ) -> HttpResponseBase:
        return redirect_to_sign_in(request)


def set_permissions_policy(get_response: GetResponse) -> GetResponse:
    """Allow only the browser features that the portal uses: camera, passkeys, full screen."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY
        return response

    return middleware


def clear_storage_on_sign_out(get_response: GetResponse) -> GetResponse:
    """Clear the browser's storage on sign-out, because a roll call is stored there (decision 66)."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        match = request.resolver_match
        if match and match.view_name == "account_logout" and not request.user.is_authenticated:
            response["Clear-Site-Data"] = '"storage"'
        return response

    return middleware


def mark_invalid_forms(get_response: GetResponse) -> GetResponse:
    """Answer 422 when a page shows a posted form with errors, in every area."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.method == "POST" and response.status_code == 200 and getattr(request, "shows_errors", False):
            response.status_code = 422
        return response

    return middleware


def prevent_caching(get_response: GetResponse) -> GetResponse:
    """Prevent caching of signed-in people's pages: they have personal data."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.user.is_authenticated and "Cache-Control" not in response:
            add_never_cache_headers(response)
        return response

    return middleware


def restore_unsent_form(get_response: GetResponse) -> GetResponse:
    """Restore a form that could not be sent, on its page, and start a download that waited for a proof of identity.

    The stored form is deleted first, so that it is not offered again after going back.
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
        unsent = interrupted_requests.find(request)
        response = get_response(request)
        is_page = not response.streaming and response.get("Content-Type", "").startswith("text/html")
        if response.status_code in (200, 422) and is_page and not getattr(request, "htmx", False):
            _insert_unsent_form(request, response, unsent)
        return response

    return middleware


def _insert_unsent_form(
    request: HttpRequest, response: HttpResponse, unsent: interrupted_requests.InterruptedRequest | None
) -> None:
    text = response.content.decode(response.charset)
    if unsent is not None and unsent.is_file:
        # The browser starts the download, so that the page stays open and no JavaScript is needed.
        response["Refresh"] = f"1; url={unsent.address}"
    filled = form_refilling.refill_form(text, request.path, unsent or interrupted_requests.InterruptedRequest(""))
    notice = render_to_string("components/unsent.html", {"unsent": unsent, "filled": filled})
    response.content = filled.text[: filled.notice_position] + notice + filled.text[filled.notice_position :]


_HEADER, _NOTICES = "X-Again", "X-Version-Banners"
# One process answers this many polls a second with less than a third of a processor core (`make bench`, `live`).
POLLS_PER_SECOND = 50
_JITTER = 0.1  # share of the delay, longer or shorter, so that pages do not poll at the same time


class PollQueue:
    """The times until which pages wait for their next request."""

    def __init__(self) -> None:
        self._back: list[float] = []
        self._lock = threading.Lock()

    def next_delay(self, now: float) -> float:
        """Return the seconds until the next request of one more page."""
        with self._lock:
            while self._back and self._back[0] <= now:
                heapq.heappop(self._back)
            seconds = max(live_updates.INTERVALS["live"], (len(self._back) + 1) / POLLS_PER_SECOND)
            heapq.heappush(self._back, now + seconds)
        return seconds


poll_queue = PollQueue()


def pace_polls(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Set the delay until the next poll, and report changed banners, in responses to polling pages."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if live_updates.is_poll(request):
            seconds = poll_queue.next_delay(time.monotonic()) * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - no secret
            response[_HEADER] = f"{seconds:.2f}"
            if response.status_code in (200, 204) and _has_other_banners(request):
                trigger_client_event(response, "banners-changed")
        return response

    return middleware


def _has_other_banners(request: HttpRequest) -> bool:
    """Return whether the page shows outdated banners; False for one that does not report what it shows."""
    version = request.headers.get(_NOTICES)
    if version is None or not in_tenant(request):
        return False
    with tenant_scope(request.tenant):
        return version != Frame(request).banners_version
