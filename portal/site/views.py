"""Pages for what went wrong. A foreign thing and a missing one look exactly alike."""

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
    """A limit of allauth's pages was reached, which is written down."""
    account_events.record_throttled(request, request.user if request.user.is_authenticated else None)
    return render(request, "429.html", status=429)


def raise_not_found(request: HttpRequest) -> HttpResponse:
    """A page that a library brings and that this site does not have."""
    raise Http404


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer what nobody caught, with the id that its lines of the log have. A database that is away is said to be.

    Without context processors: whatever broke may break them too.
    """
    cause = sys.exc_info()[1]
    # Before the request has an id of its own it is given one, and its line is written here.
    name = structlog.contextvars.get_contextvars().get("request_id") or str(uuid.uuid4())
    with structlog.contextvars.bound_contextvars(request_id=name):
        log.error("page_broken", path=request.path, cause=type(cause).__name__)
    page, status = ("database_away.html", 503) if isinstance(cause, OperationalError) else ("500.html", 500)
    return HttpResponse(render_to_string(page, {"id": name}), status=status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    """Show a form of an older sign-in again, to the same person alone; else say that its page has expired."""
    page = form_page(request, within="/", home="/")
    return restore_expired_form(request) or render(request, "403_csrf.html", {"page": page}, status=403)
