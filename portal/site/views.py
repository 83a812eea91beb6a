"""Pages for what went wrong. A foreign thing and a missing one look exactly alike."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from tenants.staff import record


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "403.html", {"reason": str(exception or "")}, status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "404.html", status=404)


def too_many(request: HttpRequest) -> HttpResponse:
    """A limit of allauth's pages was reached, which is written down."""
    record.throttled(request, request.user if request.user.is_authenticated else None)
    return render(request, "429.html", status=429)


def missing(request: HttpRequest) -> HttpResponse:
    """A page that a library brings and that this site does not have."""
    raise Http404


def broken(request: HttpRequest) -> HttpResponse:
    """Without context processors: whatever broke may break them too."""
    return HttpResponse(render_to_string("500.html"), status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", status=403)
