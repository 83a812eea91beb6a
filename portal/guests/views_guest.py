"""A guest's page, and what the desk does to a guest: change, extend, cut short."""

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from accessapi.resources import write_moment
from portal.core.intents.asking import ALL, Button, ask, once, page_of
from portal.core.intents.record import Asker
from portal.core.mirror.fields.guests import END, GUEST
from portal.core.visits.access import get_visit
from portal.core.visits.queries import guest_of, presets
from portal.guests import actions, explaining, fresh, pages
from portal.guests.changing import ChangeForm, ExtendForm
from portal.guests.places import Places
from tenants.access import tenant_view
from tenants.roles import Permission


@tenant_view(Permission.GUESTS_VIEW)
def guest(request: HttpRequest, guest_id: str) -> HttpResponse:
    return render(request, "guests/guest.html", pages.context(request, get_visit(guest_id)))


@tenant_view(Permission.GUESTS_VIEW)
def reading(request: HttpRequest, guest_id: str) -> HttpResponse:
    """The same page, or its facts alone when htmx asks, after reading the service once within budget."""
    visit = get_visit(guest_id)
    trouble = fresh.read(visit)
    visit.refresh_from_db()
    told = {"trouble": trouble, "read": not trouble}
    if request.htmx:
        return render(request, "guests/facts.html", pages.facts(request, visit) | told)
    return render(request, "guests/guest.html", pages.context(request, visit) | told)


@tenant_view(Permission.GUESTS_DESK, methods=["GET", "POST"])
def edit(request: HttpRequest, guest_id: str) -> HttpResponse:
    visit = get_visit(guest_id)
    known = guest_of(visit)
    trouble = ""
    if request.method == "GET" and (known is None or known.detail is None):
        trouble = fresh.read(visit)
        known = guest_of(visit)
    if known is None or visit.gone_at is not None:
        messages.error(request, _("This guest no longer exists in the service."))
        return redirect("guests:guest", request.tenant.slug, guest_id)
    form = ChangeForm(request.POST or None, visit=visit, guest=known, known=Places())
    answer = _save(request, form) if form.is_valid() else None
    shown = {"form": form, "visit": visit, "guest": known, "trouble": trouble}
    return answer or render(request, "guests/edit.html", shown)


def _save(request: HttpRequest, form: ChangeForm) -> HttpResponse | None:
    visit, body, by = form.visit, form.body(), Asker.of(request)
    actions.note(visit=visit, company=form.cleaned_data["company"], host=form.chosen_host, by=by)
    if not body:
        messages.info(request, _("No changes to send."))
        return redirect("guests:guest", request.tenant.slug, visit.guest_id)
    before = {name: form.seen.get(name) for name in body}
    return _change(request, form, body, before=before)


def _change(
    request: HttpRequest, form: ChangeForm | ExtendForm, body: dict[str, Any], **more: Any
) -> HttpResponse | None:
    """Ask for a change, and go on to the guest's page. Of a code that was cut short only when the person says that it
    may work again.
    """
    revive = bool(form.cleaned_data.get("revive"))
    act = partial(actions.change, visit=form.visit, body=body, revive=revive, **more)
    to = partial(page_of, route="guests:guest", name="guest_id")
    return ask(request, form, act, body=body, inputs=GUEST.inputs, explain=explaining.explained, to=to, shows=ALL)


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def extend(request: HttpRequest, guest_id: str) -> HttpResponse:
    """A later end."""
    visit, answer = get_visit(guest_id), None
    form = ExtendForm(request.POST, visit=visit, presets=presets())
    if visit.gone_at is None and form.is_valid():
        before = {END.name: write_moment(visit.use_date_end)}
        answer = _change(request, form, form.body(), before=before, act="guest.extend")
    return answer or render(request, "guests/guest.html", pages.context(request, visit) | {"extend": form})


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def cut(request: HttpRequest, guest_id: str) -> HttpResponse:
    """This code must die now. It is followed until the service confirms, whatever happens to this page."""
    visit = get_visit(guest_id)
    if not pages.may_cut(visit):
        messages.info(request, _("This code had already ended."))
    else:
        found = once(request, Button(request), partial(actions.cut_short, visit=visit))
        if found is not None and not found.may_still_open:
            messages.success(request, _("Confirmed: this code no longer opens any door."))
    return redirect("guests:guest", request.tenant.slug, guest_id)
