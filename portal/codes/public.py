"""The guest's own phone: one page outside of every tenant, open to whoever holds its address, silent to all others."""

from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.codes import links
from portal.codes.badges import symbol_of
from portal.codes.hours import Hours, Phase
from portal.core.ui import drawing
from tenants.addresses import network_of

# A whole party opens its codes behind one address; nobody needs more than this.
MOST_A_MINUTE = 120


@login_not_required
@require_safe
def guest_code(request: HttpRequest, token: str) -> HttpResponse:
    """The code and its hours. Unknown, expired, revoked and cut all get one and the same answer."""
    if _too_many(request):
        return _answer(request, "guests/codes/wait.html", {}, 429)
    opened = links.open_link(token)
    picture = _picture(opened)
    if opened is None or not picture:
        return _answer(request, "guests/codes/no_longer.html", {}, 404)
    phase = Phase.EARLY if opened.start > timezone.now() else Phase.WORKS
    hours = Hours(phase, opened.start, opened.end)
    return _answer(request, "guests/codes/phone.html", {"picture": picture, "hours": hours}, 200)


def _picture(opened: links.Opened | None) -> str:
    code = symbol_of(opened.data) if opened is not None else None
    return drawing.svg(code, _("Entry code")) if code else ""


def _answer(request: HttpRequest, template: str, context: dict[str, object], status: int) -> HttpResponse:
    answer = render(request, template, context, status=status)
    add_never_cache_headers(answer)
    answer["Referrer-Policy"] = "no-referrer"
    answer["X-Robots-Tag"] = "noindex, nofollow"
    # Django would write the address, and with it the secret, into the log of what was not found.
    answer._has_been_logged = True  # type: ignore[attr-defined]
    return answer


def _too_many(request: HttpRequest) -> bool:
    """Whether this address asked too often within a minute."""
    return cache.count(f"guest-code:{network_of(request.META['REMOTE_ADDR'])}", 60) > MOST_A_MINUTE
