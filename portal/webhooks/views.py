"""Views of the panel "Webhook" on the connection page: actions, and automatic updates."""

from functools import partial

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.base.ui import live_updates
from portal.domain.intents.form_handling import ErrorsAsMessages, address_of, submit_once
from portal.domain.intents.nonces import NotSubmitted
from portal.domain.intents.recording import Requester
from portal.webhooks import actions, panel, service_settings
from portal.webhooks.actions import WebhookChange
from portal.webhooks.panel import CategoriesForm
from portal.webhooks.service_settings import AddressOwner, ServiceSettings
from tenants.access import TenantRequest, tenant_view
from tenants.connections.views import draw_page as connection_page
from tenants.roles import Permission


def _page(request: TenantRequest) -> str:
    return f"{reverse('connection:index', args=[request.tenant.slug])}#webhook"


@tenant_view(Permission.CONNECTION_VIEW)
def now(request: TenantRequest) -> HttpResponse:
    """Show the part of the panel that is updated automatically, or the whole page if it was opened directly."""
    if not live_updates.is_poll(request):
        return redirect(_page(request))
    context = panel.live_context(request)
    return live_updates.render_update(request, context["version"], "webhooks/now.html", context)


@tenant_view(Permission.CONNECTION_MANAGE, methods=["POST"])
def change(request: TenantRequest, what: str) -> HttpResponse:
    """Run one of the actions. The panel shows its outcome."""
    if what not in set(WebhookChange):
        raise Http404
    kind, chosen = WebhookChange(what), list[str]()
    if kind in (WebhookChange.ON, WebhookChange.CATEGORIES):
        form = CategoriesForm(service_settings.webhook_of(request.tenant), ServiceSettings.load(), request.POST)
        if not form.is_valid():
            setattr(request, panel.REFUSED_FORM, form)
            return connection_page(request)
        chosen = form.cleaned_data["categories"]
    if kind is WebhookChange.OFF and _is_others(request):
        actions.switch_off_locally(by=Requester.from_request(request))
        messages.success(request, _("Switched off in the portal. The settings at the service were left as they are."))
        return redirect(_page(request))
    command = partial(actions.submit_change, change=kind, categories=chosen, replace=request.POST.get("replace", ""))
    intent = submit_once(request, ErrorsAsMessages(request), command)
    page = reverse("connection:index", args=[request.tenant.slug])
    return redirect(_page(request) if intent is None else address_of(page, intent))


def _is_others(request: TenantRequest) -> bool:
    """Check whether the service notifies another system, by its present answer; without an answer, by the last one."""
    try:
        present = actions.load_service_settings()
    except NotSubmitted:
        return False
    return present.address_owner(service_settings.webhook_of(request.tenant)) is AddressOwner.OTHERS


@tenant_view(Permission.CONNECTION_MANAGE, methods=["POST"])
def test(request: TenantRequest) -> HttpResponse:
    actions.start_test(by=Requester.from_request(request))
    return redirect(_page(request))


@tenant_view(Permission.CONNECTION_MANAGE, methods=["POST"])
def reveal(request: TenantRequest) -> HttpResponse:
    """Show the full address: a fragment for htmx, else a separate page."""
    value = actions.reveal_address(by=Requester.from_request(request))
    page = "webhooks/secret.html" if request.htmx else "webhooks/address.html"
    return render(request, page, {"value": value})
