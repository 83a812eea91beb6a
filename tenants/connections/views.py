"""The connection page of a tenant, and the OAuth callback address."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from tenants.access import Access, SignedInRequest, TenantRequest, tenant_view
from tenants.audit import latest_on_target
from tenants.connections import actions, oauth_grant, words
from tenants.connections.forms import LicenceKeyForm
from tenants.connections.locks import ConnectionBusy
from tenants.connections.reissue import NotConnected, ReissueOutcome, reissue
from tenants.connections.summary import describe_operations, summary_of
from tenants.roles import Permission

SUCCESSFUL_REISSUES = {ReissueOutcome.DONE, ReissueOutcome.UNPROVEN}


def draw_page(request: TenantRequest, form: LicenceKeyForm | None = None) -> HttpResponse:
    """Draw the whole page, also in response to a form of one of its panels."""
    access = request.access
    connection = actions.connection_of(access)
    context = {
        "connection": connection,
        "summary": summary_of(connection),
        "licence_form": form or LicenceKeyForm(prefix="licence", stored=connection.has_licence_key),
        "may_manage": access.can(Permission.CONNECTION_MANAGE),
        "entries": latest_on_target("connection", 8) if access.can(Permission.AUDIT_VIEW) else [],
    }
    response = render(request, "tenants/connection/index.html", context)
    service = urlsplit(access.tenant.environment.base_url)
    # The connect form is answered by a redirect to the service, which form-action must allow.
    response._csp_update = {"form-action": f"{service.scheme}://{service.netloc}"}  # type: ignore[attr-defined]  # django-csp reads it
    return response


@tenant_view(Permission.CONNECTION_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    return draw_page(request)


@tenant_view(Permission.CONNECTION_MANAGE, methods=["POST"])
def connect(request: TenantRequest) -> HttpResponse:
    return redirect(oauth_grant.begin(access=request.access, session_key=request.session.session_key or ""))


@tenant_view(Permission.CONNECTION_MANAGE, methods=["POST"])
def reissue_token(request: TenantRequest) -> HttpResponse:
    connection = actions.connection_of(request.access)
    try:
        result = reissue(connection=connection, by=request.access.user, support_session=request.access.support_session)
    except NotConnected:
        messages.error(request, _("There is no access token to reissue."))
    except ConnectionBusy:
        messages.error(
            request, _("Another person is changing the connection. Nothing was changed. Try again in a moment.")
        )
    else:
        say = messages.success if result.outcome in SUCCESSFUL_REISSUES else messages.error
        say(request, words.OUTCOMES[result.outcome])
    return redirect("connection:index", request.tenant.slug)


@tenant_view(Permission.CONNECTION_MANAGE, methods=["GET", "POST"])
def revoke(request: TenantRequest) -> HttpResponse:
    """Revoke the connection; a GET shows the confirmation first."""
    if request.method != "POST":
        return render(request, "components/confirm.html", _revocation(request.access))
    try:
        outcome = actions.revoke(access=request.access)
    except NotConnected:
        messages.error(request, _("There is no access token to revoke."))
    except ConnectionBusy:
        messages.error(
            request, _("Another person is changing the connection. Nothing was changed. Try again in a moment.")
        )
    else:
        say = messages.success if outcome is actions.RevocationOutcome.DONE else messages.error
        say(request, words.REVOCATIONS[outcome])
    return redirect("connection:index", request.tenant.slug)


def _revocation(access: Access) -> dict[str, object]:
    name = actions.connection_of(access).service_tenant_name
    return {
        "heading": _("Revoke connection"),
        "question": _("Revoke the connection to “%(name)s”?") % {"name": name},
        "consequences": [
            _("Until you reconnect, nothing can be loaded or changed and no door can be operated."),
            _("Data already loaded stays and can be searched."),
            _("To reconnect you need an administrator account for the member site."),
        ],
        "submit": pgettext("connection", "Revoke"),
        "danger": True,
        "cancel": reverse("connection:index", args=[access.tenant.slug]),
    }


@tenant_view(Permission.CONNECTION_MANAGE, methods=["POST"], secret_fields=["licence-value"])
def licence_key(request: TenantRequest) -> HttpResponse:
    form = LicenceKeyForm(request.POST, prefix="licence")
    if not form.is_valid():
        return draw_page(request, form)
    actions.set_licence_key(access=request.access, value=form.cleaned_data["value"])
    messages.success(request, _("The licence key was changed."))
    return redirect("connection:index", request.tenant.slug)


@tenant_view(Permission.CONNECTION_VIEW)
def operations(request: TenantRequest) -> HttpResponse:
    """Show the developer's material: address, token, permissions, and every operation with the source of its facts."""
    environment = request.tenant.environment
    connection = actions.connection_of(request.access)
    context = {
        "environment": environment,
        "connection": connection,
        "summary": summary_of(connection),
        "operations": list(describe_operations(environment.catalogue)),
    }
    return render(request, "tenants/connection/operations.html", context)


def callback(request: SignedInRequest, environment: str) -> HttpResponse:
    """Handle people's return from the service: one address per environment, for signed-in people only."""
    came_back = oauth_grant.Callback(
        environment=environment,
        state=request.GET.get("state", ""),
        code=request.GET.get("code", ""),
        error=request.GET.get("error", ""),
        user=request.user,
        session_key=request.session.session_key or "",
    )
    request.META["QUERY_STRING"] = ""  # so that no log of this request has the code
    try:
        connection = oauth_grant.complete(came_back)
    except oauth_grant.GrantRefused as refusal:
        context = {
            "text": words.REFUSALS[refusal.reason],
            "tenant": refusal.tenant,
            "detail": refusal.detail[:60],
        }
        return render(request, "tenants/connection/refused.html", context, status=400)
    messages.success(request, _("Connected to “%(name)s”.") % {"name": connection.service_tenant_name})
    return redirect("connection:index", connection.tenant.slug)
