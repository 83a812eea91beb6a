"""Views of alerts, their rules and recipients, a person's own settings, and web addresses."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.alerts.forms import AddressForm, NoteForm, NotificationForm, RecipientsForm, RuleForm
from portal.alerts.incident import Passages, TimelineEntry, load_timeline, similar_alerts
from portal.alerts.lists import AlertRecords, Alerts, severity, state_text
from portal.base.ui import live_updates
from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.alerts import actions
from portal.domain.alerts.actions import try_rule
from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Alert
from portal.domain.alerts.rules import EffectiveRule, find_rule, hours_text, load_rules, rule_of
from portal.domain.alerts.scopes import describe_scopes
from portal.domain.alerts.words import AlertTexts
from portal.domain.history.models import History
from portal.domain.intents.recording import Requester
from portal.domain.notifications import actions as notification_actions
from portal.domain.notifications import outbox
from portal.domain.notifications.actions import mask_url
from portal.domain.notifications.alert_messages import ALERT, default_min_severity
from portal.domain.notifications.models import NotificationSettings, OutgoingMessage, WebAddress
from portal.domain.safety.changing import change_with_feedback
from tenants.access import AccessDenied, TenantRequest, tenant_view
from tenants.interrupted_requests import run_and_return
from tenants.roles import Permission

# The most messages on an alert's page.
_MAX_SHOWN = 50
# The ID of the button that assigns or unassigns an alert.
_ASSIGNMENT = "alert-assign"


@tenant_view(Permission.ALERTS_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    return Alerts(request).respond("alerts/index.html")


@tenant_view(Permission.ALERTS_VIEW)
def alert(request: TenantRequest, alert_id: int) -> HttpResponse:
    """Show one alert. While the page is open, it is updated."""
    found = _alert_or_404(alert_id)
    setattr(request, "shown_alert", found)  # noqa: B010 - for the panels of this page
    context = _alert_context(request, found)
    page = "alerts/now.html" if live_updates.is_poll(request) else "alerts/alert.html"
    return live_updates.render_update(request, context["version"], page, context)


def _alert_or_404(alert_id: int) -> Alert:
    return get_row_or_404(Alert.objects.select_related("taken_by", "closed_by"), pk=alert_id)


def _alert_context(request: TenantRequest, found: Alert) -> dict[str, Any]:
    texts = AlertTexts.of(request.access, [found])
    outgoing = list(outbox.messages_about(found.pk, ALERT.name)[:_MAX_SHOWN])
    records = AlertRecords(request, found)
    passages = Passages(request, found)
    timeline, sentence = load_timeline(found), texts.sentence(found)
    return {
        "alert": found,
        "title": texts.title(found),
        "sentence": sentence,
        "is_over": found.pk in texts.over,
        "severity": severity(found),
        "state": state_text(found),
        "records": records,
        "timeline": timeline,
        "passages": passages,
        "similar": [(each, state_text(each)) for each in similar_alerts(found)],
        "outgoing": outgoing,
        "may_take": request.access.can(Permission.ALERTS_TAKE),
        "is_mine": found.taken_by_id == request.user.pk,
        "version": _version_of(found, sentence, [*records.rows, *passages.records], timeline, outgoing),
    }


def _version_of(
    found: Alert,
    sentence: str,
    records: Sequence[History],
    timeline: Sequence[TimelineEntry],
    outgoing: Sequence[OutgoingMessage],
) -> str:
    """Return the version mark of everything that changes on the page."""
    facts = sentence, found.times, found.last_at, found.ended_at, found.taken_by_id
    record_ids, steps = [each.pk for each in records], [each.at for each in timeline]
    return live_updates.version_of(*facts, record_ids, steps, [(each.state, each.answer) for each in outgoing])


def _apply(
    request: TenantRequest,
    alert_id: int,
    action: Callable[[Alert, Requester], None],
    done: str,
    *,
    typed: bool = False,
    focus: str = "",
) -> HttpResponseBase:
    """Run an action on an alert, then return to its page with the result (`run_and_return`).

    `focus` is the ID of the element that gets focus there.
    """
    page = reverse("alerts:alert", args=[request.tenant.slug, alert_id]) + (f"#{focus}" if focus else "")
    command = partial(action, _alert_or_404(alert_id), Requester.from_request(request))
    return run_and_return(request, page, command, actions.AlreadyHandled, done=done, typed=typed)


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def assign(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    return _apply(
        request,
        alert_id,
        lambda alert, by: actions.assign(alert=alert, by=by),
        _("Assigned to you."),
        focus=_ASSIGNMENT,
    )


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def unassign(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    return _apply(
        request,
        alert_id,
        lambda alert, by: actions.unassign(alert=alert, by=by),
        _("Alert unassigned."),
        focus=_ASSIGNMENT,
    )


@tenant_view(Permission.ALERTS_TAKE, methods=["POST"])
def note(request: TenantRequest, alert_id: int) -> HttpResponseBase:
    def add_note(alert: Alert, by: Requester) -> None:
        actions.add_note(alert=alert, text=_note_text(request), by=by)

    return _apply(request, alert_id, add_note, _("Note saved."), typed=True)


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
    """Show all rules with where and when they apply."""
    rules = load_rules()
    places = describe_scopes([each.scope for each in rules])
    rows = [(each, where, hours_text(each.hours)) for each, where in zip(rules, places, strict=True)]
    may_manage = request.access.can(Permission.ALERTS_MANAGE)
    return render(request, "alerts/rules.html", {"rows": rows, "may_manage": may_manage})


def rule_context(request: TenantRequest, form: RuleForm, recipients: RecipientsForm | None) -> dict[str, Any]:
    """Return the data of a rule's page: its form, and the recipients on the page of a kind's default rule."""
    may_try = request.access.can(Permission.LOGS_VIEW)
    heading = form.rule.kind.title
    return {"rule": form.rule, "heading": heading, "form": form, "may_try": may_try, "recipients": recipients}


def _rule_or_404(watched: str, rule_id: int | None = None) -> EffectiveRule:
    found = find_rule(watched if rule_id is None else f"{watched}:{rule_id}") if watched in KINDS else None
    if found is None:
        raise Http404
    return found


@tenant_view(Permission.ALERTS_MANAGE, methods=["GET", "POST"])
def rule(request: TenantRequest, watched: str, rule_id: int | None = None) -> HttpResponseBase:
    """Change a rule, or test the form's values against the past month."""
    form = RuleForm(_rule_or_404(watched, rule_id), request.POST or None)
    context = rule_context(request, form, RecipientsForm.of(watched) if rule_id is None else None)
    if form.is_valid():
        if "try" not in request.POST:
            command = partial(actions.change_rule, rule=form.rule_values, by=Requester.from_request(request))
            if change_with_feedback(request, command, _("Rule saved."), form):
                return redirect("alerts:rules", request.tenant.slug)
        elif context["may_try"]:
            context["tried"] = try_rule(request.tenant, form.rule_values)
    return render(request, "alerts/rule.html", context)


@tenant_view(Permission.ALERTS_MANAGE, methods=["GET", "POST"])
def new_rule(request: TenantRequest, watched: str) -> HttpResponseBase:
    """Add another rule of a kind for some areas, doors or hours, or test the form's values."""
    if watched not in KINDS or not KINDS[watched].has_scope:
        raise Http404
    form = RuleForm(replace(rule_of(KINDS[watched], None), is_on=True), request.POST or None)
    heading = _("New rule: %(kind)s") % {"kind": form.rule.kind.title}
    context = rule_context(request, form, None) | {"is_new": True, "heading": heading}
    if form.is_valid():
        if "try" not in request.POST:
            actions.add_rule(rule=form.rule_values, by=Requester.from_request(request))
            messages.success(request, _("Rule added."))
            return redirect("alerts:rules", request.tenant.slug)
        if context["may_try"]:
            context["tried"] = try_rule(request.tenant, form.rule_values)
    return render(request, "alerts/rule.html", context)


@tenant_view(Permission.ALERTS_MANAGE, methods=["POST"])
def remove_rule(request: TenantRequest, watched: str, rule_id: int) -> HttpResponseBase:
    """Remove an added rule."""
    command = partial(actions.remove_rule, rule=_rule_or_404(watched, rule_id), by=Requester.from_request(request))
    change_with_feedback(request, command, _("Rule removed."))
    return redirect("alerts:rules", request.tenant.slug)


# The number of newest messages on an address's page.
_MAX_ADDRESS_MESSAGES = 20


@tenant_view(Permission.ALERTS_VIEW, methods=["GET", "POST"])
def own_settings(request: TenantRequest) -> HttpResponseBase:
    """Show and save a person's e-mail settings. Browser notifications are requested by the page."""
    saved = NotificationSettings.objects.filter(user=request.user).first()
    form = NotificationForm(saved, default_min_severity(request.access.role.name), request.POST or None)
    if form.is_valid():
        if request.access.support_session:
            raise AccessDenied(_("Not saved: there is no alert e-mail in support sessions. Use your own account."))
        notification_actions.save_preferences(
            min_severity=form.cleaned_data["least"], hours=form.hours, by=Requester.from_request(request)
        )
        messages.success(request, _("Notifications saved."))
        return redirect("alerts:notify", request.tenant.slug)
    may_manage = request.access.can(Permission.ALERTS_MANAGE)
    return render(request, "alerts/notify.html", {"form": form, "may_manage": may_manage})


@tenant_view(Permission.ALERTS_MANAGE, methods=["POST"])
def recipients(request: TenantRequest, watched: str) -> HttpResponseBase:
    """Save the recipients of a rule's alerts."""
    shown = RuleForm(_rule_or_404(watched))
    form = RecipientsForm.of(watched, request.POST)
    if form.is_valid():
        command = partial(
            notification_actions.change_recipients,
            **form.cleaned_data,
            kind=KINDS[watched],
            by=Requester.from_request(request),
        )
        if change_with_feedback(request, command, _("Recipients saved."), form):
            return redirect("alerts:rule", request.tenant.slug, watched)
    return render(request, "alerts/rule.html", rule_context(request, shown, form))


@tenant_view(Permission.ALERTS_MANAGE, methods=["GET", "POST"])
def addresses(request: TenantRequest) -> HttpResponse:
    """Show the tenant's web addresses and add another. Its secret is shown once, in the response."""
    form = AddressForm(request.POST or None)
    if form.is_valid():
        try:
            return _secret_page(
                request, notification_actions.add_address(values=form.cleaned_data, by=Requester.from_request(request))
            )
        except notification_actions.AddressNotSaved:
            most = {"most": notification_actions.MAX_ADDRESSES}
            text = _("Not added: the name is in use, or the limit (%(most)s) is reached. Rename it or remove one.")
            form.add_error("name", text % most)
    rows = [(each, mask_url(each.url)) for each in WebAddress.objects.order_by("name")]
    return render(request, "alerts/addresses.html", {"form": form, "rows": rows})


def _secret_page(request: TenantRequest, row: WebAddress) -> HttpResponse:
    return render(request, "alerts/address_secret.html", {"row": row, "value": row.secret})


def _address_or_404(address_id: int) -> WebAddress:
    return get_row_or_404(WebAddress.objects.all(), pk=address_id)


@tenant_view(Permission.ALERTS_MANAGE)
def address(request: TenantRequest, address_id: int) -> HttpResponse:
    """Show one web address, masked, with its latest answers."""
    row = _address_or_404(address_id)
    last = [(each, outbox.kind_of(each).route) for each in row.messages.order_by("-pk")[:_MAX_ADDRESS_MESSAGES]]
    return render(request, "alerts/address.html", {"row": row, "shown": mask_url(row.url), "last": last})


@tenant_view(Permission.ALERTS_MANAGE, methods=["POST"])
def send_test(request: TenantRequest, address_id: int) -> HttpResponseBase:
    """Request a test message to an address."""
    try:
        notification_actions.send_test(address=_address_or_404(address_id), by=Requester.from_request(request))
        messages.success(request, _("Test requested. Reload this page to see the answer."))
    except notification_actions.TooManyTests:
        text = _("Test not sent. The limit is %(most)d tests in %(minutes)d minutes. Try again later.")
        messages.error(
            request, text % {"most": notification_actions.MAX_TESTS, "minutes": notification_actions.TEST_SECONDS // 60}
        )
    return redirect("alerts:address", request.tenant.slug, address_id)


@tenant_view(Permission.ALERTS_MANAGE, methods=["POST"])
def renew_secret(request: TenantRequest, address_id: int) -> HttpResponse:
    """Create a new secret, which is shown once."""
    return _secret_page(
        request,
        notification_actions.renew_secret(address=_address_or_404(address_id), by=Requester.from_request(request)),
    )


@tenant_view(Permission.ALERTS_MANAGE, methods=["POST"])
def remove_address(request: TenantRequest, address_id: int) -> HttpResponseBase:
    """Delete a web address with its sent messages."""
    found = _address_or_404(address_id)
    change_with_feedback(
        request,
        partial(notification_actions.remove_address, address=found, by=Requester.from_request(request)),
        _("Web address removed."),
    )
    return redirect("alerts:addresses", request.tenant.slug)
