"""The platform's start page, and pages to start, end or refuse support sessions."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from tenants import roles
from tenants.access import SignedInRequest, TenantRequest, platform_view, tenant_view
from tenants.landing import first_page_of
from tenants.models import SupportSession, Tenant
from tenants.roles import PLATFORM_ROLES, Permission
from tenants.support import actions
from tenants.support.forms import EnterForm
from tenants.support.tenant_list import list_tenants

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
