"""Views of incidents: the list, one incident with its items, actions on it, and its exports."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Prefetch
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.base.storage import store
from portal.base.ui import confirmation, live_updates
from portal.base.ui.url_lookup import get_row_or_404, is_row_number
from portal.domain.cameras import usage
from portal.domain.intents.recording import Requester
from portal.domain.safety.changing import change_with_feedback
from portal.evidence import actions
from portal.evidence.forms import CloseForm, EditForm, HoldForm, IncidentForm, NoteForm, SettingsForm, initial_values
from portal.evidence.items import ItemWords, group_videos, items_of, words_of
from portal.evidence.lists import Incidents
from portal.evidence.models import Incident, Item, LegalHold
from tenants.access import TenantRequest, tenant_view
from tenants.connections.service_clients import current_connection
from tenants.interrupted_requests import return_to_form, run_and_return
from tenants.roles import Permission, Proof

REFUSAL_TEXTS = {
    "closed": gettext_lazy("Nothing was changed. This incident is closed. Reopen it to change it."),
    "open": gettext_lazy("Nothing was deleted. This incident is open. Close it first."),
    "held": gettext_lazy("Nothing was changed or removed. This incident is on legal hold. End every hold first."),
    "settled": gettext_lazy("Nothing was saved. This incident is closed. Reopen it to save video and pictures."),
    "reopened": gettext_lazy("Nothing was changed. This incident is already open. Reload the page."),
    "ended": gettext_lazy("Nothing was changed. This legal hold has already ended. Reload the page."),
    "deleted": gettext_lazy("Nothing was changed. This incident has been deleted."),
    "too_many": gettext_lazy("Nothing was added. An incident holds at most 2,000 items. Create another incident."),
}
# The number of newest exports on an incident's page.
_EXPORTS = 10


def incident_or_404(number: int) -> Incident:
    """Return the incident of this number in the tenant in scope."""
    holds = Prefetch("holds", LegalHold.objects.select_related("by", "ended_by").order_by("pk"))
    rows = Incident.objects.select_related("opened_by", "closed_by").prefetch_related(holds)
    return get_row_or_404(rows, number=number)


def page_of(request: TenantRequest, found: Incident) -> str:
    return reverse("evidence:incident", args=[request.tenant.slug, found.number])


def apply(
    request: TenantRequest, found: Incident, action: Callable[[], Any], message: str = "", *, typed: bool = False
) -> HttpResponseBase:
    """Run an action on an incident, then return to its page with the result (`run_and_return`)."""
    return run_and_return(
        request,
        page_of(request, found),
        action,
        actions.NotDone,
        done=message,
        why=lambda error: str(REFUSAL_TEXTS[str(error)]),
        typed=typed,
    )


def refuse(request: TenantRequest, found: Incident, action: actions.IncidentAction) -> HttpResponseBase | None:
    """Return to the incident's page with a reason if its state refuses the action; otherwise return None."""
    why = actions.refusing_state(found, action)
    if not why:
        return None
    if request.method == "POST" and action in ("edit", "close"):
        return return_to_form(request, page_of(request, found), str(REFUSAL_TEXTS[why]))
    messages.error(request, str(REFUSAL_TEXTS[why]))
    return redirect(page_of(request, found))


@tenant_view(Permission.EVIDENCE_VIEW)
def index(request: TenantRequest) -> HttpResponseBase:
    may_make = request.access.can(Permission.EVIDENCE_MAKE)
    return Incidents(request).respond("evidence/index.html", {"may_make": may_make})


@tenant_view(Permission.EVIDENCE_VIEW)
def incident(request: TenantRequest, number: int) -> HttpResponse:
    """Show an incident. While the page is open, video and exports are updated."""
    found = incident_or_404(number)
    if live_updates.is_up_to_date(request, _version_of(found)):
        return live_updates.unchanged_response()
    page = "evidence/now.html" if live_updates.is_poll(request) else "evidence/incident.html"
    response = render(request, page, _context(request, found))
    policy: Any = response
    policy._csp_update = {"media-src": ["'self'"]}
    return response


def _version_of(found: Incident) -> str:
    """Return a version mark of the page's data, computed without putting anything into words."""
    items = list(found.items.order_by("pk").values_list("pk", "media", "trouble"))
    exports = list(found.exports.order_by("pk").values_list("pk", "trouble", "file"))
    holds = [(each.pk, each.ended_at) for each in found.holds.all()]
    return live_updates.version_of(items, exports, found.closed_at, holds, found.title)


def _context(request: TenantRequest, found: Incident) -> dict[str, Any]:
    items = [words_of(item) for item in items_of(found)]
    missing = [each for each in items if each.can_be_fetched]
    return {
        "incident": found,
        "allowed": actions.allowed_actions(found),
        "holds": [each for each in found.holds.all() if each.is_active],
        "ended_holds": [each for each in found.holds.all() if not each.is_active],
        "items": group_videos(items),
        "count": len(items),
        "exports": found.exports.select_related("requested_by", "file").order_by("-pk")[:_EXPORTS],
        "version": _version_of(found),
        "kept_until": min(_expiry_times([each for each in items if each.is_record]), default=None),
        "missing": len(missing),
        "awaited": sum(1 for each in items if each.is_loading),
        "first_loss": min((end for end in _expiry_times(missing) if end > timezone.now()), default=None),
        "downloads": usage.refreshed_usage(current_connection()).downloads if missing else None,
        "may_make": request.access.can(Permission.EVIDENCE_MAKE),
        "note_form": NoteForm(),
    }


def _expiry_times(items: list[ItemWords]) -> list[datetime]:
    """Return when the service deletes each of these."""
    return [each.item.expires_at for each in items if each.item.expires_at]


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"], proof=Proof.NONE)
def new(request: TenantRequest) -> HttpResponseBase:
    form = IncidentForm(request.POST) if request.method == "POST" else IncidentForm(initial=request.GET.dict())
    if form.is_valid():
        made = actions.open_incident(**form.cleaned_data, by=Requester.from_request(request))
        return redirect(page_of(request, made))
    return render(request, "evidence/new.html", {"form": form})


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"])
def edit(request: TenantRequest, number: int) -> HttpResponseBase:
    found = incident_or_404(number)
    if stopped := refuse(request, found, "edit"):
        return stopped
    form = EditForm(request.POST if request.method == "POST" else None, initial=initial_values(found))
    if form.is_valid():
        command = partial(actions.edit, incident=found, **form.cleaned_data, by=Requester.from_request(request))
        return apply(request, found, command, typed=True)
    context = {"form": form, "incident": found}
    return render(request, "evidence/edit.html", context)


@tenant_view(Permission.EVIDENCE_MAKE, methods=["POST"], proof=Proof.NONE)
def note(request: TenantRequest, number: int) -> HttpResponseBase:
    found, form = incident_or_404(number), NoteForm(request.POST)
    if form.is_valid():
        command = partial(actions.add_note, incident=found, **form.cleaned_data, by=Requester.from_request(request))
        return apply(request, found, command, typed=True)
    context = _context(request, found) | {"note_form": form}
    return render(request, "evidence/incident.html", context)


@tenant_view(Permission.EVIDENCE_MAKE, methods=["POST"], proof=Proof.NONE)
def fetch(request: TenantRequest, number: int) -> HttpResponseBase:
    """Request all missing video and pictures, or those that are named."""
    found = incident_or_404(number)
    named = [int(each) for each in request.POST.getlist("item") if is_row_number(each)]
    items = Item.objects.filter(pk__in=named) if "item" in request.POST else Item.objects.all()
    return apply(
        request, found, lambda: actions.request_fetch(incident=found, items=items, by=Requester.from_request(request))
    )


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"])
def remove(request: TenantRequest, number: int, pk: int) -> HttpResponseBase:
    found = incident_or_404(number)
    item = get_row_or_404(items_of(found), pk=pk)
    if stopped := refuse(request, found, "remove"):
        return stopped
    words = words_of(item)
    if request.method == "POST":
        return apply(
            request, found, lambda: actions.remove_item(incident=found, item=item, by=Requester.from_request(request))
        )
    what = _("%(kind)s: %(what)s") % {"kind": words.kind, "what": words.headline}
    lasts = _("The audit log keeps a note of the item and the SHA-256 of its file.")
    return _confirm(request, found, _("Remove from incident"), what, [lasts])


def _confirm(
    request: TenantRequest,
    found: Incident,
    heading: str,
    question: str,
    consequences: list[str],
    form: forms.Form | None = None,
) -> HttpResponse:
    """Show the confirmation page of an action on an incident."""
    return confirmation.ask(
        request,
        heading,
        submit=heading,
        question=question,
        consequences=consequences,
        cancel=page_of(request, found),
        danger=form is None,
        form=form,
    )


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"])
def close(request: TenantRequest, number: int) -> HttpResponseBase:
    found = incident_or_404(number)
    if stopped := refuse(request, found, "close"):
        return stopped
    form = CloseForm(
        request.POST if request.method == "POST" else None, initial={"keep_until": actions.retention_end()}
    )
    if form.is_valid():
        command = partial(actions.close, incident=found, **form.cleaned_data, by=Requester.from_request(request))
        return apply(request, found, command, typed=True)
    missing = found.items.filter(media__in=Item.LACKING).count()
    lacks = ngettext(
        "%(n)d video or picture is not saved and will be lost.",
        "%(n)d videos and pictures are not saved and will be lost.",
        missing,
    ) % {"n": missing}
    consequences = [_("Nothing can be added to a closed incident."), *([lacks] if missing else [])]
    return _confirm(request, found, _("Close incident"), found.title, consequences, form)


@tenant_view(Permission.EVIDENCE_MAKE, methods=["POST"])
def reopen(request: TenantRequest, number: int) -> HttpResponseBase:
    found = incident_or_404(number)
    return apply(request, found, lambda: actions.reopen(incident=found, by=Requester.from_request(request)))


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"], proof=Proof.NONE)
def hold(request: TenantRequest, number: int) -> HttpResponseBase:
    found = incident_or_404(number)
    form = HoldForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        command = partial(actions.add_hold, incident=found, **form.cleaned_data, by=Requester.from_request(request))
        return apply(request, found, command, typed=True)
    consequences = [
        _("Nothing in the incident can be changed or removed until every legal hold has ended."),
        _("Items can still be added while the incident is open."),
    ]
    return _confirm(request, found, _("Put on legal hold"), found.title, consequences, form)


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"])
def end_hold(request: TenantRequest, number: int, pk: int) -> HttpResponseBase:
    """End one of an incident's holds."""
    found = incident_or_404(number)
    hold = get_row_or_404(found.holds.select_related("by"), pk=pk)
    if request.method == "POST":
        return apply(
            request, found, lambda: actions.end_hold(incident=found, hold=hold, by=Requester.from_request(request))
        )
    others = sum(each.is_active for each in found.holds.all() if each.pk != hold.pk)
    other_holds = ngettext("%(n)d other legal hold remains.", "%(n)d other legal holds remain.", others) % {"n": others}
    consequence = other_holds if others else _("Closed incidents are deleted when retention ends.")
    return _confirm(request, found, _("End legal hold"), hold.reason, [consequence])


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"])
def delete(request: TenantRequest, number: int) -> HttpResponseBase:
    found = incident_or_404(number)
    if stopped := refuse(request, found, "delete"):
        return stopped
    if request.method != "POST":
        consequences = [
            _("All items, files and exports of this incident are deleted. This cannot be undone."),
            _("The audit log keeps the SHA-256 of each file."),
        ]
        return _confirm(request, found, _("Delete incident"), found.title, consequences)
    try:
        actions.delete(incident=found, by=Requester.from_request(request))
    except actions.NotDone as why:
        messages.error(request, str(REFUSAL_TEXTS[str(why)]))
        return redirect(page_of(request, found))
    messages.success(request, _("Incident %(number)d deleted.") % {"number": found.number})
    return redirect(reverse("evidence:index", args=[request.tenant.slug]))


@tenant_view(Permission.EVIDENCE_MAKE, methods=["GET", "POST"])
def settings(request: TenantRequest) -> HttpResponseBase:
    form = SettingsForm(request.POST if request.method == "POST" else None, initial={"days": actions.retention_days()})
    if form.is_valid():
        command = partial(actions.change_retention, **form.cleaned_data, by=Requester.from_request(request))
        if change_with_feedback(request, command, _("Saved. Applies to incidents closed from now on."), form):
            return redirect(reverse("evidence:index", args=[request.tenant.slug]))
    return render(request, "evidence/settings.html", {"form": form})


@tenant_view(Permission.EVIDENCE_MAKE, methods=["POST"])
def request_export(request: TenantRequest, number: int) -> HttpResponseBase:
    found = incident_or_404(number)
    return apply(request, found, lambda: actions.request_export(incident=found, by=Requester.from_request(request)))


@tenant_view(Permission.EVIDENCE_MAKE, is_file=True)
def download(request: TenantRequest, number: int, pk: int) -> HttpResponseBase:
    """Return the file of a signed export."""
    found = incident_or_404(number)
    export = get_row_or_404(found.exports.select_related("file", "incident"), pk=pk)
    if export.file is None:
        raise Http404
    record = partial(actions.record_download, export=export, by=Requester.from_request(request))
    return store.download_response(request, export.file, f"incident-{found.number}-{export.pk}.zip", record=record)
