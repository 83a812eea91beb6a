"""Views of a guest's page and its actions, of issuing codes and following them, and of presets."""

import uuid
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from accessapi.resources import write_moment
from portal.base.ui import confirmation
from portal.base.ui.times import parse_moment
from portal.base.ui.value_words import join_values
from portal.domain.events import MirrorKind
from portal.domain.history.lists import prefetch_recent_records
from portal.domain.intents import refusals
from portal.domain.intents.form_handling import (
    ALL_STATES,
    USED_BEFORE,
    AfterSubmit,
    ErrorsAsMessages,
    address_of_target,
    submit_and_redirect,
    submit_once,
)
from portal.domain.intents.recording import Requester
from portal.domain.people.guest_fields import END, GUEST
from portal.domain.sync import freshness
from portal.domain.visits import queries as visits
from portal.domain.visits.models import Preset, Stage, Visit
from portal.domain.visits.queries import get_preset, get_visit, get_visit_row, guest_of
from portal.domain.visits.visit_status import visit_url
from portal.guests import actions, deactivation, hours, issue_form, issuing, places, queries
from portal.guests.forms import ChangeForm, ExtendForm, PresetForm
from portal.guests.issue_form import IssueForm
from portal.guests.places import GuestPlaces
from portal.guests.queries import PartyLine
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

_FIRST = ("name", "until", "preset")


@tenant_view(Permission.GUESTS_VIEW)
def guest(request: TenantRequest, guest_id: str) -> HttpResponse:
    prefetch_recent_records(request)
    return render(request, "guests/guest.html", queries.full_context(request, get_visit(guest_id)))


@tenant_view(Permission.GUESTS_VIEW)
def reading(request: TenantRequest, guest_id: str) -> HttpResponse:
    """Read the guest once within the budget and show the page again, or only its facts if htmx requests it."""
    visit = get_visit(guest_id)
    trouble = queries.refresh_guest(visit)
    visit.refresh_from_db()
    result = {"trouble": trouble, "read": not trouble}
    if request.htmx:
        return render(request, "guests/facts.html", queries.guest_context(request, visit) | result)
    return render(request, "guests/guest.html", queries.full_context(request, visit) | result)


@tenant_view(Permission.GUESTS_DESK, methods=["GET", "POST"])
def edit(request: TenantRequest, guest_id: str) -> HttpResponse:
    visit = get_visit(guest_id)
    known = guest_of(visit)
    trouble = ""
    if request.method == "GET" and (known is None or known.detail is None):
        trouble = queries.refresh_guest(visit)
        known = guest_of(visit)
    if known is None or visit.gone_at is not None:
        messages.error(request, _("This guest no longer exists."))
        return redirect("guests:guest", request.tenant.slug, guest_id)
    form = ChangeForm(request.POST or None, visit=visit, guest=known, known=GuestPlaces())
    answer = _save_change(request, form) if form.is_valid() else None
    context = {"form": form, "visit": visit, "guest": known, "trouble": trouble}
    return answer or render(request, "guests/edit.html", context)


def _save_change(request: TenantRequest, form: ChangeForm) -> HttpResponse | None:
    visit, body, by = form.visit, form.body(), Requester.from_request(request)
    actions.save_notes(visit=visit, company=form.cleaned_data["company"], host=form.chosen_host, by=by)
    if not body:
        messages.info(request, _("No changes to send."))
        return redirect("guests:guest", request.tenant.slug, visit.guest_id)
    before = {name: form.shown_values.get(name) for name in body}
    answer = _change(request, form, body, before=before)
    if answer is not None and form.merged_labels:
        text = _("Someone else changed this in the meantime: %(fields)s. Both changes were sent.")
        messages.info(request, text % {"fields": join_values(form.merged_labels)})
    return answer


_TO_GUEST = AfterSubmit(
    to=partial(address_of_target, route="guests:guest", name="guest_id"),
    inputs=GUEST.input_names,
    explain=queries.explain_refusal,
    shows=ALL_STATES,
)


def _change(
    request: TenantRequest, form: ChangeForm | ExtendForm, body: dict[str, Any], **more: Any
) -> HttpResponse | None:
    """Request a change and redirect to the guest's page. A deactivated code needs the person's confirmation."""
    reactivate = bool(form.cleaned_data.get("revive"))
    action = partial(actions.change_guest, visit=form.visit, body=body, reactivate=reactivate, **more)
    return submit_and_redirect(request, form, action, _TO_GUEST, body=body)


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def extend(request: TenantRequest, guest_id: str) -> HttpResponse:
    """Save a later end."""
    visit, answer = get_visit(guest_id), None
    form = ExtendForm(request.POST, visit=visit, presets=visits.presets())
    if visit.gone_at is None and form.is_valid():
        before = {END.name: write_moment(visit.use_date_end)}
        answer = _change(request, form, form.body(), before=before, title="guest.extend")
    return answer or render(request, "guests/guest.html", queries.full_context(request, visit) | {"extend": form})


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def deactivate(request: TenantRequest, guest_id: str) -> HttpResponse:
    """Deactivate this code. The portal repeats it until the service confirms, even if the page is closed."""
    visit = get_visit(guest_id)
    if not queries.may_deactivate(visit):
        messages.info(request, _("This code had already ended."))
    else:
        found = submit_once(request, ErrorsAsMessages(request), partial(deactivation.deactivate, visit=visit))
        if found is not None and not found.may_still_open:
            messages.success(request, _("Confirmed: this code no longer opens any door."))
    return redirect("guests:guest", request.tenant.slug, guest_id)


@tenant_view(Permission.GUESTS_DESK, methods=["GET", "POST"])
def new(request: TenantRequest) -> HttpResponse:
    """Issue a code to a walk-in guest, with one call to the service."""
    desk = issue_form.load_desk()
    form = IssueForm(request.POST or None, desk=desk, initial=issue_form.initial_values(request.GET))
    answer = _issue(request, form) if form.is_valid() else None
    return answer or render(request, "guests/new.html", _form_context(request, form))


def _issue(request: TenantRequest, form: IssueForm) -> HttpResponse | None:
    """Issue the codes of a valid form once. Return None if the form must be shown again with an error."""
    orders, confirmed = form.orders(), request.POST.getlist("confirmed")
    visits = submit_once(request, form, partial(issuing.issue_codes, orders=orders, confirmed=confirmed))
    if visits is None:
        return None
    if not issuing.match_orders(visits, orders):
        form.add_error(None, USED_BEFORE)
        form.issued_visits = visits
        return None
    if len(visits) == 1 and visits[0].stage == Stage.NOT_ISSUED and visits[0].intent is not None:
        form.refused = visits[0].intent
        if not queries.is_refused_to_tenant(visits[0].intent):  # otherwise the page shows the reason
            refusals.show_in_form(form, visits[0].intent, GUEST.input_names, queries.explain_refusal(visits[0].intent))
        return None
    return redirect(_page_of(request.tenant.slug, visits))


def _page_of(slug: str, visits: list[Visit]) -> str:
    """Return the address of the guest's page, or of the page with several results."""
    return visit_url(slug, visits[0]) if len(visits) == 1 else reverse("guests:party", args=[slug, visits[0].party])


def _form_context(request: TenantRequest, form: IssueForm) -> dict[str, Any]:
    last = form.refused or queries.last_refusal()
    refusal = last if last is not None and queries.is_refused_to_tenant(last) else None
    why = freshness.absence(request, MirrorKind.GUESTS, "create_guest")
    why = why if why is not None and why.is_refused else None
    return {
        "form": form,
        "desk": form.desk,
        "script": issue_form.script_data(form.desk),
        "refusal": refusal,
        "why": queries.no_codes_text(refusal) if refusal is not None else why.text if why is not None else "",
        # A guest without a code, for any reason, is still in the building and can be checked in.
        "without_code": refusal is not None or why is not None or form.refused is not None,
        "may_manage": request.access.can(Permission.GUESTS_MANAGE),
        "more_open": any(name in form.errors for name in form.fields if name not in _FIRST),
    }


@tenant_view(Permission.GUESTS_DESK)
def host_choices(request: TenantRequest) -> HttpResponse:
    """Return suggestions for the field `host` as options."""
    text = request.GET.get("host", "")[:100].replace("\x00", "")
    return render(request, "guests/host_choices.html", {"names": places.host_choices(text)})


@tenant_view(Permission.GUESTS_DESK)
def end_reading(request: TenantRequest) -> HttpResponse:
    """Return how the typed end of a code is read, so that a person sees it before sending the form."""
    start = parse_moment(request.GET.get("start", "")) or hours.now()
    return render(
        request, "guests/end_reading.html", {"reading": hours.describe_end(request.GET.get("until", ""), start)}
    )


@tenant_view(Permission.GUESTS_DESK)
def visit(request: TenantRequest, visit_id: int) -> HttpResponse:
    """Show the result of a request while the guest has no ID from the service."""
    row = get_visit_row(visit_id)
    if row.guest_id is not None:
        return redirect("guests:guest", request.tenant.slug, row.guest_id)
    return _follow_page(request, queries.lines_of([row]), request.path)


@tenant_view(Permission.GUESTS_DESK)
def party_page(request: TenantRequest, party_id: uuid.UUID) -> HttpResponse:
    """Show the results of one form: a line and a code for each guest."""
    lines = queries.party_lines(party_id)
    if not lines:
        raise Http404
    return _follow_page(request, lines, request.path)


def _follow_page(request: TenantRequest, lines: list[PartyLine], address: str) -> HttpResponse:
    context = {"lines": lines, "address": address, "going": any(line.is_pending for line in lines)}
    if request.htmx:
        return render(request, "guests/party.html#lines", context)
    return render(request, "guests/party.html", context)


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def check_in_without_code(request: TenantRequest) -> HttpResponse:
    """Check in a guest without a code. Only the portal records it."""
    form = IssueForm(request.POST, desk=issue_form.load_desk())
    received = None
    if form.is_valid():
        received = submit_once(request, form, partial(issuing.receive_without_code, orders=form.orders()))
    if received:
        messages.success(request, _("Checked in without a code."))
        return redirect("guests:index", request.tenant.slug)
    return render(request, "guests/new.html", _form_context(request, form))


@tenant_view(Permission.GUESTS_DESK, methods=["POST"])
def cancel_request(request: TenantRequest, visit_id: int) -> HttpResponse:
    """Cancel a request: stop it if it was not sent yet, otherwise end the code as soon as it is known."""
    row = get_visit_row(visit_id)
    if row.stage == Stage.REQUESTED:
        submit_once(request, ErrorsAsMessages(request), partial(deactivation.deactivate, visit=row))
    return redirect("guests:visit", request.tenant.slug, row.pk)


@tenant_view(Permission.GUESTS_MANAGE)
def presets(request: TenantRequest) -> HttpResponse:
    known = GuestPlaces()
    rows = [(preset, known.area_names(preset.area_ids), known.key_names(preset.keys)) for preset in visits.presets()]
    return render(request, "guests/presets.html", {"rows": rows})


@tenant_view(Permission.GUESTS_MANAGE, methods=["GET", "POST"])
def new_preset(request: TenantRequest) -> HttpResponse:
    return _preset_form(request, None)


@tenant_view(Permission.GUESTS_MANAGE, methods=["GET", "POST"])
def edit_preset(request: TenantRequest, preset_id: int) -> HttpResponse:
    return _preset_form(request, get_preset(preset_id))


def _preset_form(request: TenantRequest, preset: Preset | None) -> HttpResponse:
    known = GuestPlaces()
    form = PresetForm(request.POST or None, known=known, preset=preset)
    if request.method == "POST" and form.is_valid():
        saved = actions.save_preset(preset=preset, columns=form.columns(), by=Requester.from_request(request))
        messages.success(request, _("Saved: %(name)s") % {"name": saved})
        return redirect("guests:presets", request.tenant.slug)
    gone = _has_deleted_places(preset, known)
    return render(request, "guests/preset.html", {"form": form, "preset": preset, "gone": gone})


def _has_deleted_places(preset: Preset | None, known: GuestPlaces) -> bool:
    """Return whether the preset contains areas or keys that no longer exist."""
    if preset is None:
        return False
    keys = {value for _name, units in known.key_choices() for value, _word in units}
    return bool(set(preset.area_ids) - dict(known.areas).keys() or set(places.values_of(preset.keys)) - keys)


@tenant_view(Permission.GUESTS_MANAGE, methods=["GET", "POST"])
def delete_preset(request: TenantRequest, preset_id: int) -> HttpResponse:
    preset = get_preset(preset_id)
    if request.method == "POST":
        actions.delete_preset(preset=preset, by=Requester.from_request(request))
        messages.success(request, _("Deleted: %(name)s") % {"name": preset})
        return redirect("guests:presets", request.tenant.slug)
    return confirmation.ask(
        request,
        _("Delete “%(name)s”?") % {"name": preset},
        submit=_("Delete preset"),
        question=_("Codes already issued with it stay as they are."),
        cancel=reverse("guests:presets", args=[request.tenant.slug]),
        crumbs=[(_("Guests"), "guests:index"), (_("Presets"), "guests:presets")],
    )


@tenant_view(Permission.GUESTS_MANAGE, methods=["POST"])
def move_preset(request: TenantRequest, preset_id: int) -> HttpResponse:
    actions.move_preset(preset=get_preset(preset_id), up=request.POST.get("to") == "up")
    return redirect("guests:presets", request.tenant.slug)


@tenant_view(Permission.GUESTS_MANAGE, methods=["POST"])
def make_default_preset(request: TenantRequest, preset_id: int) -> HttpResponse:
    actions.make_default_preset(preset=get_preset(preset_id), by=Requester.from_request(request))
    return redirect("guests:presets", request.tenant.slug)
