"""The page of a restored tenant: what is unknown, and what waits for a person."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.base.restore import marking, words
from portal.base.restore.models import Restored
from tenants.access import TenantRequest, tenant_view
from tenants.roles import Permission


@tenant_view(Permission.TENANT_VIEW)
def page(request: TenantRequest) -> HttpResponse:
    """Show what was marked after the restore, and who released the waiting work."""
    row = Restored.objects.select_related("released_by").order_by("-found_at").first()
    if row is None:
        raise Http404
    context = {
        "restored": row,
        "marked": words.marked_texts(row),
        "waiting": words.waiting_texts(row),
        "may_release": request.access.can(Permission.CONNECTION_MANAGE) and request.access.support_session is None,
    }
    return render(request, "restore/page.html", context)


@tenant_view(Permission.CONNECTION_MANAGE, methods=["POST"])
def release(request: TenantRequest) -> HttpResponse:
    """Resume automatic work."""
    row = Restored.objects.filter(released_at=None).first()
    if row is not None:
        marking.release(row, request.user)
        messages.success(request, _("Automatic work has resumed."))
    return redirect("restore:page", request.tenant.slug)
