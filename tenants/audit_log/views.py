"""The audit log page of a tenant."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from tenants.access import TenantRequest, tenant_view
from tenants.audit_log import queries
from tenants.audit_log.changes import labelled_changes
from tenants.audit_log.forms import AuditFilterForm
from tenants.models import AuditEntry
from tenants.roles import Permission


@tenant_view(Permission.AUDIT_VIEW)
def index(request: TenantRequest) -> HttpResponse:
    form = AuditFilterForm(request.GET)
    audit_filter = form.chosen()
    page = queries.page(audit_filter, request.GET.get("after", ""))
    query = request.GET.copy()
    query["after"] = page.next_cursor
    filter_count = audit_filter.count + len(form.errors)
    context = {
        "form": form,
        "page": page,
        "next": query.urlencode() if page.next_cursor else "",
        "filter_count": filter_count,
    }
    return render(request, "tenants/audit_log/index.html", context)


@tenant_view(Permission.AUDIT_VIEW)
def entry(request: TenantRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(AuditEntry.objects.select_related("by", "support_session__user"), pk=pk)
    context = {
        "entry": found,
        "changes": labelled_changes(found),
        "others": queries.entries_of_action(found),
    }
    return render(request, "tenants/audit_log/entry.html", context)
