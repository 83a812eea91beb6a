"""Views of codes: at the desk, as a file or on paper, and by link on the guest's own phone."""

import uuid
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.base.ui import qr_drawing
from portal.codes import actions, badges, paper
from portal.codes.badges import CodeHours, CodePhase, hours_of, symbol_of
from portal.domain.intents.recording import Requester
from portal.domain.visits.models import SlipPaper, Visit
from portal.domain.visits.queries import code_data_of, desk_settings, get_visit
from tenants.access import TenantRequest, tenant_view
from tenants.client_addresses import network_of
from tenants.roles import Permission

DESK = Permission.GUESTS_DESK
FORMS = ("badge", "slip")
# A whole party may share one IP address; this is enough for all of them.
MOST_A_MINUTE = 120


@tenant_view(DESK, methods=["GET", "POST"])
def code(request: TenantRequest, guest_id: str) -> HttpResponse:
    """Show only the code, as large as the screen. A POST reads it from the service if it is not loaded."""
    visit = get_visit(guest_id)
    trouble = ""
    if request.method == "POST" and not code_data_of(visit):
        trouble = actions.read_code(visit, Requester.from_request(request))
    if request.method == "POST" and request.htmx:
        return render(request, "guests/codes/code_only.html", {"visit": visit, "trouble": trouble})
    if request.method == "POST" and not trouble:
        return redirect("guests:code", request.tenant.slug, guest_id)
    return _page(request, visit, trouble=trouble)


@tenant_view(DESK)
def code_file(request: TenantRequest, guest_id: str, kind: str) -> HttpResponse:
    """Return the code as an image file."""
    visit = get_visit(guest_id)
    drawn = None if hours_of(visit).is_over else symbol_of(code_data_of(visit))
    if drawn is None:
        raise Http404(_("There is no code to download. Show it first, or check that it is still active."))
    actions.record(visit, Requester.from_request(request), "code_downloaded", kind=kind)
    content_type, write = qr_drawing.FILE_FORMATS[kind]
    return _download(write(drawn), content_type, f"code-{visit}.{kind}")


@tenant_view(DESK)
def badge(request: TenantRequest, guest_id: str) -> HttpResponse:
    """Show the badge or slip for printing from the browser."""
    return _badges_page(request, [get_visit(guest_id)], {"guest_id": guest_id})


@tenant_view(DESK)
def badge_pdf(request: TenantRequest, guest_id: str, form: str) -> HttpResponse:
    return badges_pdf(request, [get_visit(guest_id)], form, guest_id)


@tenant_view(DESK)
def party_badges(request: TenantRequest, party: uuid.UUID) -> HttpResponse:
    """Show the badges of all guests of one form."""
    return _badges_page(request, badges.visits_of_party(party), {"party": party})


@tenant_view(DESK)
def party_pdf(request: TenantRequest, party: uuid.UUID, form: str) -> HttpResponse:
    return badges_pdf(request, badges.visits_of_party(party), form, str(party))


@tenant_view(DESK, methods=["POST"])
def create_link(request: TenantRequest, guest_id: str) -> HttpResponse:
    """Create a link for the guest's phone. Its address is shown only in this response."""
    visit = get_visit(guest_id)
    if hours_of(visit).is_over or not code_data_of(visit):
        messages.error(request, _("No link was created because there is no code to show."))
        return redirect("guests:code", request.tenant.slug, guest_id)
    made = actions.create_link(visit=visit, by=Requester.from_request(request), base=settings.PORTAL_URL)
    drawn = qr_drawing.draw_svg(qr_drawing.build_code(made.url), _("Link to the code as a QR code"))
    return _page(request, visit, made=made, made_picture=drawn)


@tenant_view(DESK, methods=["POST"])
def revoke_link(request: TenantRequest, guest_id: str) -> HttpResponse:
    visit = get_visit(guest_id)
    if actions.revoke_link(visit=visit, by=Requester.from_request(request)):
        messages.success(request, _("Link revoked. The code itself is still active."))
    else:
        messages.info(request, _("There was no active link."))
    return redirect("guests:code", request.tenant.slug, guest_id)


def _page(request: TenantRequest, visit: Visit, **extra: Any) -> HttpResponse:
    context = {
        "visit": visit,
        "known": bool(code_data_of(visit)),
        "hours": hours_of(visit),
        "link": actions.current_link(visit),
        "unprintable": badges.unprintable_on_badges(request.tenant, [visit]),
    }
    return render(request, "guests/codes/page.html", context | extra)


def _badges_page(request: TenantRequest, visits: list[Visit], address: dict[str, Any]) -> HttpResponse:
    form = request.GET.get("paper", "badge")
    form = form if form in FORMS else "badge"
    context = {
        "badges": badges.badges_of(request.tenant, visits),
        "form": form,
        "address": address,
        "slip_paper": SlipPaper(desk_settings().slip_paper),
        "unprintable": badges.unprintable_on_badges(request.tenant, visits),
        "may_manage": request.access.can(Permission.GUESTS_MANAGE),
    }
    actions.record(visits[0], Requester.from_request(request), "badge_opened", paper=form, **_audit_facts(visits))
    return render(request, "guests/codes/badge.html", context)


def badges_pdf(request: TenantRequest, visits: list[Visit], form: str, name: str) -> HttpResponse:
    """Return badges or slips of these visits as one PDF."""
    made = badges.badges_of(request.tenant, visits)
    actions.record(visits[0], Requester.from_request(request), "badge_downloaded", paper=form, **_audit_facts(visits))
    if form == "slip":
        content = paper.render_slips(made, SlipPaper(desk_settings().slip_paper))
    else:
        first = request.GET.get("first", "1")
        content = paper.render_badges(made, first=int(first) if first.isdecimal() and len(first) < 3 else 1)
    return _download(content, "application/pdf", f"{form}-{name}.pdf")


def _audit_facts(visits: list[Visit]) -> dict[str, Any]:
    return {"guests": len(visits)} | ({"visits": [visit.pk for visit in visits]} if len(visits) > 1 else {})


def _download(content: bytes, content_type: str, name: str) -> HttpResponse:
    answer = HttpResponse(content, content_type=content_type)
    answer["Content-Disposition"] = content_disposition_header(True, name)
    return answer


@login_not_required
@require_safe
def guest_code(request: HttpRequest, token: str) -> HttpResponse:
    """Show the code and its hours. All links that do not work get the same response."""
    if _is_rate_limited(request):
        return _answer(request, "guests/codes/wait.html", {}, 429)
    opened = actions.open_link(token)
    symbol = symbol_of(opened.data) if opened is not None else None
    if opened is None or symbol is None:
        return _answer(request, "guests/codes/no_longer.html", {}, 404)
    phase = CodePhase.NOT_STARTED if opened.start > timezone.now() else CodePhase.ACTIVE
    context = {
        "picture": qr_drawing.draw_svg(symbol, _("Entry code")),
        "hours": CodeHours(phase, opened.start, opened.end),
    }
    return _answer(request, "guests/codes/phone.html", context, 200)


def _answer(request: HttpRequest, template: str, context: dict[str, object], status: int) -> HttpResponse:
    answer = render(request, template, context, status=status)
    add_never_cache_headers(answer)
    answer["Referrer-Policy"] = "no-referrer"
    answer["X-Robots-Tag"] = "noindex, nofollow"
    # Django's log of missing pages would otherwise contain the address with the secret.
    vars(answer)["_has_been_logged"] = True
    return answer


def _is_rate_limited(request: HttpRequest) -> bool:
    """Return whether this network sent too many requests within a minute."""
    key = f"guest-code:{network_of(request.META['REMOTE_ADDR'])}"
    count: int = cache.count(key, 60)  # type: ignore[attr-defined]  # a method of DatabaseMemory
    return count > MOST_A_MINUTE
