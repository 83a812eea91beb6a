"""Views and forms of roll calls. They use only the portal's own data: they work while the service is down."""

import uuid

from django import forms
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accessapi.reading import read_json
from portal.base.ui import live_updates
from portal.base.ui.value_words import add_label, join_sentences
from portal.domain.intents.recording import Requester
from portal.rollcall import actions, queries
from portal.rollcall.models import PersonStatus
from tenants import interrupted_requests
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


class StartForm(forms.Form):
    """The form to start a roll call. The same `nonce` starts only one."""

    name = forms.CharField(label=gettext_lazy("Name of the roll call"), max_length=100)
    nonce = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)


class PersonForm(forms.Form):
    name = forms.CharField(label=pgettext_lazy("person", "Name"), max_length=100)
    place = forms.CharField(label=gettext_lazy("Place last seen"), max_length=100, required=False)
    nonce = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)


_MAX_TICKS = 2000  # ticks that a phone may send at once


@tenant_view(Permission.ROLL_CALL_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    """Show past roll calls, and the form to start one for people with the permission."""
    return _index(request, StartForm())


@tenant_view(Permission.ROLL_CALL, methods=["POST"])
def start(request: TenantRequest) -> HttpResponse:
    """Start a roll call and redirect to it. Show an error if the reason is missing."""
    form = StartForm(request.POST)
    if not form.is_valid():
        return _index(request, form)
    call = actions.start(**form.cleaned_data, by=Requester.from_request(request))
    return redirect("rollcall:page", request.tenant.slug, call.pk)


def _index(request: TenantRequest, form: StartForm) -> HttpResponse:
    context = {"form": form, "calls": queries.all_calls(), "may_call": request.access.can(Permission.ROLL_CALL)}
    return render(request, "rollcall/index.html", context)


@tenant_view(Permission.ROLL_CALL)
def page(request: TenantRequest, call_id: int) -> HttpResponse:
    """Show everyone on one page, to be checked off. For an ended roll call, redirect to the report."""
    call = queries.get_roll_call(call_id)
    if call.ended_at is not None:
        return redirect("rollcall:report", request.tenant.slug, call.pk)
    context = {
        "state": queries.load_state(call),
        "form": PersonForm(),
        "now": timezone.now(),
        "says": PersonStatus,
        "words": queries.PHONE_TEXTS,
        "unreadable": queries.not_saved_text([actions.TickRefusal.UNREADABLE]),
    }
    return render(request, "rollcall/page.html", context)


@tenant_view(Permission.ROLL_CALL)
def state(request: TenantRequest, call_id: int) -> HttpResponse:
    """Return the ticks since the given number, for a page that is updated automatically. 204 if nothing changed."""
    since = request.GET.get("since", "")
    found = queries.changes_since(
        queries.get_roll_call(call_id), int(since) if since.isdecimal() and len(since) < 18 else 0
    )
    return (
        live_updates.unchanged_response()
        if live_updates.is_up_to_date(request, found["version"])
        else JsonResponse(found)
    )


@tenant_view(Permission.ROLL_CALL)
def worker(request: TenantRequest, call_id: int) -> HttpResponse:
    """Return the service worker for this roll call's page only, for use without a network (decision 66)."""
    scope = reverse("rollcall:page", args=[request.tenant.slug, queries.get_roll_call(call_id).pk])
    headers = {"Service-Worker-Allowed": scope}
    return HttpResponse(render_to_string("rollcall/worker.js"), content_type="text/javascript", headers=headers)


@tenant_view(Permission.ROLL_CALL, methods=["POST"])
def ticks(request: TenantRequest, call_id: int) -> HttpResponse:
    """Save ticks: JSON from a phone, or the form of a page without JavaScript.

    The answer has the number of handled ticks, the positions of ticks that were not saved, and the reasons as text.
    """
    call, by = queries.get_roll_call(call_id), Requester.from_request(request)
    if request.content_type != "application/json":
        listed, _sep, status = request.POST.get("tick", "").partition(":")
        raw_ticks = [{"id": listed, "status": status, "at": timezone.now().isoformat(), "nonce": uuid.uuid4()}]
        if note := queries.not_saved_text(actions.save_ticks(call=call, raw_ticks=raw_ticks, by=by)):
            messages.error(request, note)
        return redirect("rollcall:page", request.tenant.slug, call.pk)
    try:
        sent = read_json(request.body)
    except ValueError:
        sent = None
    if not isinstance(sent, list):
        return JsonResponse({"error": "unreadable"}, status=400)
    refused = actions.save_ticks(call=call, raw_ticks=sent[:_MAX_TICKS], by=by)
    places = [place for place, why in enumerate(refused) if why is not None]
    return JsonResponse({"answered": len(refused), "refused": places, "note": queries.not_saved_text(refused)})


@tenant_view(Permission.ROLL_CALL, methods=["POST"])
def add(request: TenantRequest, call_id: int) -> HttpResponse:
    """Add a person who was seen since the start, or anyone by name."""
    call, form = queries.get_roll_call(call_id), PersonForm(request.POST)
    page = reverse("rollcall:page", args=[request.tenant.slug, call.pk])
    if call.ended_at is not None:
        report = reverse("rollcall:report", args=[request.tenant.slug, call.pk])
        return interrupted_requests.return_to_form(
            request, report, _("The person was not added: the roll call has ended. Start a new one.")
        )
    if "key" in request.POST:
        actions.add_seen(call=call, key=request.POST["key"], by=Requester.from_request(request))
    elif form.is_valid():
        actions.add_by_name(call=call, **form.cleaned_data, by=Requester.from_request(request))
    else:
        wrong = [add_label(join_sentences(each.errors), each.label) for each in form.visible_fields() if each.errors]
        why = join_sentences([_("The person was not added."), *wrong])
        return interrupted_requests.return_to_form(request, page, why)
    return redirect(page)


@tenant_view(Permission.ROLL_CALL, methods=["POST"])
def end(request: TenantRequest, call_id: int) -> HttpResponse:
    """End the roll call and redirect to its report."""
    actions.end(call=queries.get_roll_call(call_id), by=Requester.from_request(request))
    return redirect("rollcall:report", request.tenant.slug, call_id)


@tenant_view(Permission.ROLL_CALL_VIEW)
def report(request: TenantRequest, call_id: int) -> HttpResponse:
    """Show who was accounted for, by which warden and when, with all ticks. The page can be printed."""
    context = {
        "state": queries.load_state(queries.get_roll_call(call_id)),
        "may_call": request.access.can(Permission.ROLL_CALL),
    }
    return render(request, "rollcall/report.html", context)
