"""Error pages. Missing objects and other tenants' objects look exactly the same."""

import sys
import uuid

import structlog
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string

from tenants.reauthentication import form_page, restore_expired_form
from tenants.staff import account_events

log = structlog.get_logger(__name__)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "403.html", {"reason": str(exception or "")}, status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "404.html", status=404)


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Show that a limit of allauth's pages was reached, and log it."""
    account_events.record_throttled(request, request.user if request.user.is_authenticated else None)
    return render(request, "429.html", status=429)


def raise_not_found(request: HttpRequest) -> HttpResponse:
    """Raise Http404 for a library's page that this site does not use."""
    raise Http404


def server_error(request: HttpRequest) -> HttpResponse:
    """Show an error page with the ID that is also in the log. A database that is not available is named.

    No context processors are used, because they may fail as well.
    """
    cause = sys.exc_info()[1]
    # If the request has no ID yet, it gets one, and its log line is written here.
    name = structlog.contextvars.get_contextvars().get("request_id") or str(uuid.uuid4())
    with structlog.contextvars.bound_contextvars(request_id=name):
        log.error("page_broken", path=request.path, cause=type(cause).__name__)
    page, status = ("database_away.html", 503) if isinstance(cause, OperationalError) else ("500.html", 500)
    return HttpResponse(render_to_string(page, {"id": name}), status=status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """Show a form again after a new sign-in, if it is the same person; else show that the page has expired."""
    page = form_page(request, within="/", home="/")
    return restore_expired_form(request) or render(request, "403_csrf.html", {"page": page}, status=403)
