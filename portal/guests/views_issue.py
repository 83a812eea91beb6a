"""Issuing: the form of three fields, what follows what it asked for, and the names of hosts while one types."""

import uuid
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.intents import refusals
from portal.core.intents.asking import USED_BEFORE, Button, once
from portal.core.mirror import absence
from portal.core.mirror.fields.guests import GUEST
from portal.core.mirror.frame import known
from portal.core.mirror.kinds import Kind
from portal.core.visits.access import get_visit_row
from portal.core.visits.models import Stage, Visit
from portal.guests import actions, explaining, hosts, prefilling, queries
from portal.guests.following import Line, lines_of, party
from portal.guests.forms import IssueForm
from portal.guests.issuing import are
from tenants.access import tenant_view
from tenants.roles import Permission

_FIRST = ("name", "until", "preset")


@tenant_view(Permission.GUESTS_DESK, methods=["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The walk-in. From Enter to a code on screen: one call to the service."""
    desk = prefilling.desk()
    form = IssueForm(request.POST or None, desk=desk, initial=prefilling.initial(request))
    answer = _issue(request, form) if form.is_valid() else None
    return answer or render(request, "guests/new.html", _shown(request, form))


def _issue(request: HttpRequest, form: IssueForm) -> HttpResponse | None:
    """Issue what a valid form asks for, once. None: the form is shown again, with what stands against it."""
    orders, confirmed = form.orders(), request.POST.getlist("confirmed")
    visits = once(request, form, partial(actions.issue, orders=orders, confirmed=confirmed))
    if visits is None:
        return None
    if not are(visits, orders):
        form.add_error(None, USED_BEFORE)
        form.used_for = visits
        return None
    if len(visits) == 1 and visits[0].stage == Stage.NOT_ISSUED and visits[0].intent is not None:
        form.refused = visits[0].intent
        if not explaining.is_of_the_desk(visits[0].intent):  # else the page says it by itself
            refusals.show(form, visits[0].intent, GUEST.inputs, explaining.explained(visits[0].intent))
        return None
    return redirect(_address(request, visits))


def _address(request: HttpRequest, visits: list[Visit]) -> str:
    """Where what was issued is seen: the guest's page, or the page that follows it."""
    slug = request.tenant.slug  # type: ignore[attr-defined]
    if len(visits) > 1:
        return reverse("guests:party", args=[slug, visits[0].party])
    if visits[0].guest_id is not None:
        return reverse("guests:guest", args=[slug, visits[0].guest_id])
    return reverse("guests:visit", args=[slug, visits[0].pk])


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
    if form.is_valid() and once(request, form, partial(actions.receive_without_code, orders=form.orders())):
        messages.success(request, _("Checked in without a code."))
        return redirect("guests:index", request.tenant.slug)
    return render(request, "guests/new.html", _shown(request, form))


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def withdraw(request: HttpRequest, visit_id: int) -> HttpResponse:
    """Nobody shall get this code: stop it if it has not left, else cut it short as soon as it is known."""
    row = get_visit_row(visit_id)
    if row.stage == Stage.ASKED:
        once(request, Button(request), partial(actions.cut_short, visit=row))
    return redirect("guests:visit", request.tenant.slug, row.pk)
