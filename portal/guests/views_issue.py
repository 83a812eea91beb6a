"""Issuing: the form of three fields, what follows what it asked for, and the names of hosts while one types."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.core.intents import nonces
from portal.core.intents.record import Asker
from portal.core.mirror import absence
from portal.core.mirror.frame import known
from portal.core.mirror.kinds import Kind
from portal.core.visits.access import get_visit_row
from portal.core.visits.models import Stage
from portal.guests import actions, attempts, explaining, hosts, prefilling, queries
from portal.guests.following import Line, lines_of, party
from portal.guests.forms import IssueForm
from tenants.access import tenant_view
from tenants.roles import Permission

_FIRST = ("name", "until", "preset")


@tenant_view(Permission.GUESTS_DESK, methods=["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The walk-in. From Enter to a code on screen: one call to the service."""
    desk = prefilling.desk()
    form = IssueForm(request.POST or None, desk=desk, initial=prefilling.initial(request))
    if request.method == "POST" and form.is_valid():
        answer = attempts.issue(request, form)
        if answer is not None:
            return answer
    return render(request, "guests/new.html", _shown(request, form))


def _shown(request: HttpRequest, form: IssueForm) -> dict[str, Any]:
    last = form.refused or queries.last_refusal()
    denied = last if last is not None and explaining.is_of_the_desk(last) else None
    why = absence.of(Kind.GUESTS, known(request)[Kind.GUESTS], "create_guest")
    why = why if why is not None and why.refused else None
    return {
        "form": form,
        "desk": form.desk,
        "script": prefilling.for_script(form.desk),
        "denied": denied,
        "why": explaining.why_no_codes(denied) if denied is not None else why.text if why is not None else "",
        # Whoever gets no code, whatever the reason, is still somebody in the building.
        "without_code": denied is not None or why is not None or form.refused is not None,
        "may_manage": request.access.can(Permission.GUESTS_MANAGE),
        "more_open": any(name in form.errors for name in form.fields if name not in _FIRST),
    }


@tenant_view(Permission.GUESTS_DESK)
def host_choices(request: HttpRequest) -> HttpResponse:
    """Names for the field `host`, as options of its list."""
    text = request.GET.get("host", "")[:100].replace("\x00", "")
    return render(request, "guests/host_choices.html", {"names": hosts.choices(text)})


@tenant_view(Permission.GUESTS_DESK)
def visit(request: HttpRequest, visit_id: int) -> HttpResponse:
    """A visit whose guest the service has not named (yet): what became of asking for it."""
    row = get_visit_row(visit_id)
    if row.guest_id is not None:
        return redirect("guests:guest", request.tenant.slug, row.guest_id)
    return _follow(request, lines_of([row]), request.path)


@tenant_view(Permission.GUESTS_DESK)
def party_page(request: HttpRequest, party_id: uuid.UUID) -> HttpResponse:
    """What one form issued: a line and a code for each guest."""
    lines = party(party_id)
    if not lines:
        raise Http404
    return _follow(request, lines, request.path)


def _follow(request: HttpRequest, lines: list[Line], address: str) -> HttpResponse:
    shown = {"lines": lines, "address": address, "going": any(line.is_going for line in lines)}
    if request.htmx:
        return render(request, "guests/party.html#lines", shown)
    return render(request, "guests/party.html", shown)


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def without_code(request: HttpRequest) -> HttpResponse:
    """A visitor who gets no code is still somebody in the building: the portal's own record."""
    form = IssueForm(request.POST, desk=prefilling.desk())
    if form.is_valid():
        try:
            nonce = nonces.check(request)
            actions.receive_without_code(orders=form.orders(), by=Asker.of(request), nonce=nonce)
            messages.success(request, _("Recorded as here, without a code."))
            return redirect("guests:index", request.tenant.slug)
        except nonces.BadNonce as refusal:
            form.add_error(None, str(refusal))
    return render(request, "guests/new.html", _shown(request, form))


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def withdraw(request: HttpRequest, visit_id: int) -> HttpResponse:
    """Nobody shall get this code: stop it if it has not left, else cut it short as soon as it is known."""
    row = get_visit_row(visit_id)
    if row.stage == Stage.ASKED:
        try:
            actions.cut_short(visit=row, by=Asker.of(request), nonce=nonces.check(request))
        except nonces.BadNonce as refusal:
            messages.error(request, str(refusal))
    return redirect("guests:visit", request.tenant.slug, row.pk)
