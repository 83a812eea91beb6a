"""Views for notifications of alerts: a person's own settings, a rule's recipients, and web addresses."""

from functools import partial

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.alerts.forms import RuleForm
from portal.alerts.notification_forms import AddressForm, NotificationForm, RecipientsForm
from portal.alerts.views import rule_context
from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.alerts.kinds import KINDS
from portal.domain.alerts.models import Rule
from portal.domain.alerts.rules import rule_of
from portal.domain.intents.recording import Requester
from portal.domain.notifications import actions as notification_actions
from portal.domain.notifications.models import Telling, WebAddress, Wish
from portal.domain.notifications.queueing import default_min_severity
from portal.domain.notifications.web_addresses import mask_url
from portal.domain.safety.feedback import change_with_feedback
from tenants.access import AccessDenied, TenantRequest, tenant_view
from tenants.roles import Permission

# The number of newest notifications on an address's page.
_MAX_ADDRESS_TELLINGS = 20


@tenant_view(Permission.ALERTS_VIEW, methods=["GET", "POST"])
def own_settings(request: TenantRequest) -> HttpResponseBase:
    """Show and save a person's e-mail settings. Browser notifications are requested by the page."""
    kept = Wish.objects.filter(user=request.user).first()
    form = NotificationForm(kept, default_min_severity(request.access.role.name), request.POST or None)
    if form.is_valid():
        if request.access.support_session:
            raise AccessDenied(_("In a support session you get no e-mail about alerts."))
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
    if watched not in KINDS:
        raise Http404
    form = RecipientsForm.of(watched, request.POST)
    if form.is_valid():
        wanted = partial(
            notification_actions.change_recipients,
            **form.cleaned_data,
            kind=KINDS[watched],
            by=Requester.from_request(request),
        )
        if change_with_feedback(request, wanted, _("Recipients saved."), form):
            return redirect("alerts:rule", request.tenant.slug, watched)
    rule = RuleForm(rule_of(KINDS[watched], Rule.objects.filter(kind=watched).first()))
    return render(request, "alerts/rule.html", rule_context(request, rule, form))


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
            form.add_error("name", _("There is an address of this name, or there are %(most)s already.") % most)
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
    last = Telling.objects.filter(address=row).select_related("alert").order_by("-pk")[:_MAX_ADDRESS_TELLINGS]
    return render(request, "alerts/address.html", {"row": row, "shown": mask_url(row.url), "last": last})


@tenant_view(Permission.ALERTS_MANAGE, methods=["POST"])
def send_test(request: TenantRequest, address_id: int) -> HttpResponseBase:
    """Request a test message to an address."""
    try:
        notification_actions.send_test(address=_address_or_404(address_id), by=Requester.from_request(request))
        messages.success(request, _("Test requested. Reload this page to see the answer."))
    except notification_actions.TooManyTests:
        text = _("No test was sent. %(most)d tests in %(minutes)d minutes is the limit. Try again later.")
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
    """Delete a web address with its sent notifications."""
    found = _address_or_404(address_id)
    change_with_feedback(
        request,
        partial(notification_actions.remove_address, address=found, by=Requester.from_request(request)),
        _("Web address removed."),
    )
    return redirect("alerts:addresses", request.tenant.slug)
