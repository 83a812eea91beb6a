"""Common parts of all console pages: language and theme, safe headers, and error pages."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.shortcuts import render as rendered
from django.utils.decorators import decorator_from_middleware
from django.views.decorators.cache import never_cache

from sandbox.service.models import Tenant

from . import assets, messages, words

View = Callable[..., HttpResponseBase]
COOKIE_PATH = "/console/"
#: A person's choices by query parameter: the cookie that stores each and its values. The first is the default.
CHOICES = {"lang": ("console_language", ("", "en", "ja")), "theme": ("console_theme", ("auto", "light", "dark"))}
#: Header of requests for the live parts of a page.
LIVE_HEADER = "Sandbox-Live"
_YEAR = 365 * 24 * 3600
_CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)

log = logging.getLogger(__name__)


class PageMissing(Exception):
    """Nothing is at this address."""


class _FormProtection(CsrfViewMiddleware):
    """Middleware that refuses forms of other sites, and forms without their cookie, with a page."""

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse:
        return error_page(request, 403)


def console_page(view: View) -> View:
    """Make a view a page of the console, with forgery protection and error pages."""
    protected = decorator_from_middleware(_FormProtection)(view)

    @never_cache
    @wraps(view)
    def respond(request: HttpRequest, **parts: Any) -> HttpResponseBase:
        if request.method == "GET" and (kept := _save_choice(request)):
            return kept
        try:
            if request.method not in {"GET", "HEAD", "POST"}:
                return _with_security_headers(error_page(request, 405))
            return _with_security_headers(protected(request, **parts))
        except PageMissing:
            return _with_security_headers(error_page(request, 404))
        except (SuspiciousOperation, BadRequest, MultiPartParserError, UnreadablePostError):
            return _with_security_headers(error_page(request, 400))
        except Exception:
            log.exception("%s %s failed", request.method, request.path)
            return _with_security_headers(error_page(request, 500))

    return respond


def render(request: HttpRequest, template: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """Return the page, or only its live parts."""
    message = None if is_live(request) else messages.load(request)
    language = words.language(request)
    frame = {
        "request": request,
        "words": words.WORDS[language],
        "language": language,
        "theme": chosen_option(request, "theme"),
        "assets": assets.ADDRESSES,
        "live": is_live(request),
        "said": message,
    }
    response = rendered(request, f"console/{template}.html", frame | context, status=status)
    if message:
        messages.clear(response)
    return response


def error_page(request: HttpRequest, status: int) -> HttpResponse:
    """Return a page that describes the error, with a link back."""
    shown = words.words_for(request)["trouble"]
    return render(request, "trouble", {"trouble": shown.get(status, shown[400]), "status": status}, status=status)


def tenant_of(tenant_id: str) -> Tenant:
    """Return the tenant. Raises PageMissing."""
    found = None if "\0" in tenant_id else Tenant.objects.filter(pk=tenant_id).first()
    if found is None:
        raise PageMissing
    return found


def is_live(request: HttpRequest) -> bool:
    """Return whether only the live parts are requested."""
    return LIVE_HEADER in request.headers


def chosen_option(request: HttpRequest, name: str) -> str:
    """Return the person's choice, or the default."""
    cookie, values = CHOICES[name]
    value = request.COOKIES.get(cookie, "")
    return value if value in values else values[0]


def read_text(values: QueryDict, name: str, max_length: int = 600) -> str:
    """Return a parameter without characters that the database cannot store."""
    return values.get(name, "").replace("\0", "").strip()[:max_length]


def _save_choice(request: HttpRequest) -> HttpResponse | None:
    """Save a language or theme in the address, and return a redirect to the page; None without one."""
    wanted = {name: request.GET[name] for name in CHOICES if name in request.GET}
    if not wanted:
        return None
    rest = request.GET.copy()
    for name in wanted:
        del rest[name]
    response = HttpResponseRedirect(request.path + (f"?{rest.urlencode()}" if rest else ""))
    for name, value in wanted.items():
        cookie, values = CHOICES[name]
        if value in values:
            response.set_cookie(cookie, value, max_age=_YEAR, path=COOKIE_PATH, httponly=True, samesite="Lax")
    return response


def _with_security_headers(response: HttpResponseBase) -> HttpResponseBase:
    response["Content-Security-Policy"] = _CONTENT_SECURITY_POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["X-Frame-Options"] = "DENY"
    # With no-referrer a browser sends its own forms with the origin "null", which the forgery check refuses.
    response["Referrer-Policy"] = "same-origin"
    return response
