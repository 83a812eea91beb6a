"""The platform's list of tenants, and pages to start, end or refuse support sessions."""

from __future__ import annotations

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from tenants import roles
from tenants.access import SignedInRequest, TenantRequest, first_page_of, platform_view, tenant_view
from tenants.models import Connection, SupportSession, Tenant, User
from tenants.roles import PLATFORM_ROLES, Permission
from tenants.scope import across_tenants
from tenants.support import actions
from tenants.support.actions import SESSION_MINUTES

MAX_TENANTS = 200


@dataclass(frozen=True)
class TenantRow:
    """One tenant: its connection, and the reader's own open support session there."""

    tenant: Tenant
    connection: Connection | None
    session: SupportSession | None


def list_tenants(user: User, text: str = "") -> list[TenantRow]:
    """Return at most 200 tenants by name, lost connections first; `text` filters by name or address."""
    tenants = Tenant.objects.select_related("environment").order_by("name", "pk")
    if text:
        tenants = tenants.filter(Q(name__icontains=text) | Q(slug__icontains=text))
    with across_tenants("the board shows every tenant's connection to platform staff"):
        connections = {row.tenant_id: row for row in Connection.objects_across_tenants.defer("service_settings")}
        own = SupportSession.objects_across_tenants.filter(user=user, ended_at=None)
        sessions = {session.tenant_id: session for session in own if session.is_open}
    rows = [TenantRow(tenant, connections.get(tenant.pk), sessions.get(tenant.pk)) for tenant in tenants]
    broken = Connection.State.BROKEN
    rows.sort(key=lambda row: row.connection is None or row.connection.state != broken)
    return rows[:MAX_TENANTS]


def _limits() -> list[tuple[int, str]]:
    # Translated for each form: a lazy text would fix its value in the language of that moment.
    return [(n, _("%d minutes") % n) for n in SESSION_MINUTES]


class EnterForm(forms.Form):
    """The reason and length of a support session."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=200,
        help_text=gettext_lazy("The tenant's owner sees this. Include a ticket number if you have one."),
    )
    minutes = forms.TypedChoiceField(label=gettext_lazy("Time limit"), coerce=int, initial=30, choices=_limits)


PLATFORM_ROLE_NAMES = [role.name for role in PLATFORM_ROLES]


@platform_view(*PLATFORM_ROLE_NAMES)
def home(request: SignedInRequest) -> HttpResponse:
    text = request.GET.get("q", "")[:80]
    return render(request, "tenants/platform/index.html", {"rows": list_tenants(request.user, text), "q": text})


@platform_view(*PLATFORM_ROLE_NAMES, methods=["GET", "POST"])
def enter(request: SignedInRequest, slug: str) -> HttpResponse:
    tenant = get_object_or_404(Tenant, slug=slug)
    form = EnterForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            actions.start_session(tenant=tenant, user=request.user, **form.cleaned_data)
            return redirect(first_page_of(tenant, roles.find_role(request.user.platform_role).permissions))
        except actions.SupportRefused as refusal:
            form.add_error(None, str(refusal))
    status = 422 if request.method == "POST" else 200
    return render(request, "tenants/platform/enter.html", {"form": form, "customer": tenant}, status=status)


@tenant_view(Permission.TENANT_VIEW, methods=["POST"])
def end(request: TenantRequest, pk: int) -> HttpResponse:
    session = get_object_or_404(SupportSession.objects.all(), pk=pk)
    actions.end_session(access=request.access, session=session)
    messages.success(request, _("Support session ended."))
    if session.user_id == request.access.user.pk:
        return redirect("platform:index")
    return redirect("staff:index", request.tenant.slug)


@tenant_view(Permission.SUPPORT_MANAGE, methods=["POST"])
def allow(request: TenantRequest) -> HttpResponse:
    allowed = request.POST.get("allowed") == "yes"
    actions.set_allowed(access=request.access, is_allowed=allowed)
    messages.success(
        request,
        _("Support sessions are allowed again.") if allowed else _("Support is now refused. Open sessions were ended."),
    )
    return redirect("staff:index", request.tenant.slug)
