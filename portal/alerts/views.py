"""Alerts: the list, one alert and what people do with it, the rules."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.alerts.forms import NoteForm, RuleForm
from portal.alerts.lists import Alerts, severity, state
from portal.alerts.notify_forms import RecipientsForm
from portal.alerts.records import Records
from portal.core.alerts import acts
from portal.core.alerts.kinds import KINDS
from portal.core.alerts.models import Alert, AlertNote, Rule
from portal.core.alerts.past import try_against_past
from portal.core.alerts.rules import rule_of, rules
from portal.core.alerts.shown import Words
from portal.core.intents.record import Asker
from portal.core.safety.answering import answer
from portal.core.telling.models import Telling
from portal.core.ui import watching
from portal.core.ui.addresses import row_or_404
from tenants import unsent
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

# Notes that an alert's page shows, the newest.
_MOST = 50


@tenant_view(Permission.ALERTS_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    return Alerts(request).respond("alerts/index.html")


@tenant_view(Permission.ALERTS_VIEW)
def alert(request: TenantRequest, alert_id: int) -> HttpResponse:
    """One alert; while somebody looks, what becomes of it."""
    context = _context(request, _found(alert_id))
    if watching.has_seen(request, context["seen"]):
        return watching.unchanged()
    page = "alerts/now.html" if watching.is_asked(request) else "alerts/alert.html"
    return render(request, page, context)


def _found(alert_id: int) -> Alert:
    return row_or_404(Alert.objects.select_related("taken_by", "closed_by"), pk=alert_id)


def _context(request: TenantRequest, found: Alert) -> dict[str, Any]:
    words = Words.of(request.access, [found])
    tellings = list(found.tellings.select_related("user", "address").order_by("pk")[:_MOST])
    records = Records(request, found)
    notes = list(found.notes.select_related("by").order_by("-pk")[:_MOST])
    return {
        "alert": found,
        "title": words.title(found),
        "sentence": words.sentence(found),
        "severity": severity(found),
        "state": state(found),
        "records": records,
        "notes": notes,
        "tellings": tellings,
        "may_take": request.access.can(Permission.ALERTS_TAKE),
        "is_mine": found.taken_by_id == request.user.pk,
        "seen": _mark(found, records, notes, tellings),
    }


def _mark(found: Alert, records: Records, notes: list[AlertNote], tellings: list[Telling]) -> str:
    """Return the mark of all that changes on the page."""
    steps = found.times, found.last_at, found.ended_at, found.taken_by_id, found.closed_at
    told = [each.pk for each in records.rows]
    return watching.mark(*steps, told, len(notes), [(each.state, each.answer) for each in tellings])


def _do(
    request: TenantRequest, alert_id: int, act: Callable[[Alert, Asker], None], done: str, *, typed: bool = False
) -> HttpResponseBase:
    """Do something with an alert, and show its page with the outcome, and again what was `typed` for nothing."""
    page = reverse("alerts:alert", args=[request.tenant.slug, alert_id])
    try:
        act(_found(alert_id), Asker.of(request))
        messages.success(request, done)
    except acts.NotDone as why:
        if typed:
            return unsent.refuse(request, page, str(why))
        messages.error(request, str(why))
    return redirect(page)


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def take(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    return _do(request, alert_id, lambda alert, by: acts.take(alert=alert, by=by), _("You took this alert."))


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def give_back(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    return _do(request, alert_id, lambda alert, by: acts.give_back(alert=alert, by=by), _("Nobody has this alert now."))


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def note(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    """Keep a note."""

    def kept(alert: Alert, by: Asker) -> None:
        acts.note(alert=alert, text=_text(request), by=by)

    return _do(request, alert_id, kept, _("Note saved."), typed=True)


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def close(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    """Close an alert with what was done."""

    def closed(alert: Alert, by: Asker) -> None:
        acts.close(alert=alert, done=_text(request), by=by)

    return _do(request, alert_id, closed, _("Alert closed."), typed=True)


def _text(request: TenantRequest) -> str:
    """Return what was written down. Raises NotDone."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        raise acts.NotDone(" ".join(map(str, form.errors["text"])))
    return str(form.cleaned_data["text"])


@tenant_view(Permission.ALERTS_VIEW)
def rule_list(request: TenantRequest) -> HttpResponse:
    may_manage = request.access.can(Permission.ALERTS_MANAGE)
    return render(request, "alerts/rules.html", {"rules": rules(), "may_manage": may_manage})


def rule_context(request: TenantRequest, form: RuleForm, recipients: RecipientsForm) -> dict[str, Any]:
    """Return what a rule's page shows: its form, and who is told of its alerts."""
    may_try = request.access.can(Permission.LOGS_VIEW)
    return {"rule": form.rule, "form": form, "may_try": may_try, "recipients": recipients}


@tenant_view(Permission.ALERTS_MANAGE, methods=["GET", "POST"])
def rule(request: TenantRequest, watched: str) -> HttpResponseBase:
    """Change a rule, or try it as the form says it against the past month."""
    if watched not in KINDS:
        raise Http404
    form = RuleForm(rule_of(KINDS[watched], Rule.objects.filter(kind=watched).first()), request.POST or None)
    context = rule_context(request, form, RecipientsForm.of(watched))
    if form.is_valid():
        if "try" not in request.POST:
            wanted = partial(acts.change_rule, rule=form.wanted, by=Asker.of(request))
            if answer(request, wanted, _("Rule saved."), form):
                return redirect("alerts:rules", request.tenant.slug)
        elif context["may_try"]:
            context["tried"] = try_against_past(request.tenant, form.wanted)
    return render(request, "alerts/rule.html", context)
