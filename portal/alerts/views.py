"""Views of alerts: the list, one alert and its actions, and the rules."""

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
from portal.alerts.lists import Alerts, severity, state_text
from portal.alerts.notification_forms import RecipientsForm
from portal.alerts.records import AlertRecords
from portal.base.ui import live_updates
from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.alerts import actions
from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Alert, AlertNote, Rule
from portal.domain.alerts.rules import load_rules, rule_of
from portal.domain.alerts.texts import AlertTexts
from portal.domain.alerts.trial import try_rule
from portal.domain.intents.recording import Requester
from portal.domain.notifications.models import Telling
from portal.domain.safety.feedback import change_with_feedback
from tenants import interrupted_requests
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission

# The most notes, and the most notifications, on an alert's page.
_MAX_SHOWN = 50


@tenant_view(Permission.ALERTS_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    return Alerts(request).respond("alerts/index.html")


@tenant_view(Permission.ALERTS_VIEW)
def alert(request: TenantRequest, alert_id: int) -> HttpResponse:
    """Show one alert. While the page is open, it is updated."""
    context = _alert_context(request, _alert_or_404(alert_id))
    if live_updates.is_up_to_date(request, context["seen"]):
        return live_updates.unchanged_response()
    page = "alerts/now.html" if live_updates.is_poll(request) else "alerts/alert.html"
    return render(request, page, context)


def _alert_or_404(alert_id: int) -> Alert:
    return get_row_or_404(Alert.objects.select_related("taken_by", "closed_by"), pk=alert_id)


def _alert_context(request: TenantRequest, found: Alert) -> dict[str, Any]:
    words = AlertTexts.of(request.access, [found])
    tellings = list(found.tellings.select_related("user", "address").order_by("pk")[:_MAX_SHOWN])
    records = AlertRecords(request, found)
    notes = list(found.notes.select_related("by").order_by("-pk")[:_MAX_SHOWN])
    return {
        "alert": found,
        "title": words.title(found),
        "sentence": words.sentence(found),
        "severity": severity(found),
        "state": state_text(found),
        "records": records,
        "notes": notes,
        "tellings": tellings,
        "may_take": request.access.can(Permission.ALERTS_TAKE),
        "is_mine": found.taken_by_id == request.user.pk,
        "seen": _version_of(found, records, notes, tellings),
    }


def _version_of(found: Alert, records: AlertRecords, notes: list[AlertNote], tellings: list[Telling]) -> str:
    """Return the version mark of everything that changes on the page."""
    steps = found.times, found.last_at, found.ended_at, found.taken_by_id, found.closed_at
    told = [each.pk for each in records.rows]
    return live_updates.version_of(*steps, told, len(notes), [(each.state, each.answer) for each in tellings])


def _apply(
    request: TenantRequest, alert_id: int, act: Callable[[Alert, Requester], None], done: str, *, typed: bool = False
) -> HttpResponseBase:
    """Run an action on an alert, then return to its page with the result.

    If the action is refused and the person has `typed` something, the page shows the text again.
    """
    page = reverse("alerts:alert", args=[request.tenant.slug, alert_id])
    try:
        act(_alert_or_404(alert_id), Requester.from_request(request))
        messages.success(request, done)
    except actions.AlreadyHandled as why:
        if typed:
            return interrupted_requests.return_to_form(request, page, str(why))
        messages.error(request, str(why))
    return redirect(page)


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def assign(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    return _apply(request, alert_id, lambda alert, by: actions.assign(alert=alert, by=by), _("You took this alert."))


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def unassign(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    return _apply(
        request, alert_id, lambda alert, by: actions.unassign(alert=alert, by=by), _("Nobody has this alert now.")
    )


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def note(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    def kept(alert: Alert, by: Requester) -> None:
        actions.add_note(alert=alert, text=_note_text(request), by=by)

    return _apply(request, alert_id, kept, _("Note saved."), typed=True)


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def close(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    """Close an alert with a text about what was done."""

    def closed(alert: Alert, by: Requester) -> None:
        actions.close(alert=alert, done=_note_text(request), by=by)

    return _apply(request, alert_id, closed, _("Alert closed."), typed=True)


def _note_text(request: TenantRequest) -> str:
    """Return the posted text. Raises AlreadyHandled if it is not valid."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        raise actions.AlreadyHandled(" ".join(map(str, form.errors["text"])))
    return str(form.cleaned_data["text"])


@tenant_view(Permission.ALERTS_VIEW)
def rule_list(request: TenantRequest) -> HttpResponse:
    may_manage = request.access.can(Permission.ALERTS_MANAGE)
    return render(request, "alerts/rules.html", {"rules": load_rules(), "may_manage": may_manage})


def rule_context(request: TenantRequest, form: RuleForm, recipients: RecipientsForm) -> dict[str, Any]:
    """Return the data of a rule's page: its form and its recipients."""
    may_try = request.access.can(Permission.LOGS_VIEW)
    return {"rule": form.rule, "form": form, "may_try": may_try, "recipients": recipients}


@tenant_view(Permission.ALERTS_MANAGE, methods=["GET", "POST"])
def rule(request: TenantRequest, watched: str) -> HttpResponseBase:
    """Change a rule, or test the form's values against the past month."""
    if watched not in KINDS:
        raise Http404
    form = RuleForm(rule_of(KINDS[watched], Rule.objects.filter(kind=watched).first()), request.POST or None)
    context = rule_context(request, form, RecipientsForm.of(watched))
    if form.is_valid():
        if "try" not in request.POST:
            wanted = partial(actions.change_rule, rule=form.rule_values, by=Requester.from_request(request))
            if change_with_feedback(request, wanted, _("Rule saved."), form):
                return redirect("alerts:rules", request.tenant.slug)
        elif context["may_try"]:
            context["tried"] = try_rule(request.tenant, form.rule_values)
    return render(request, "alerts/rule.html", context)
