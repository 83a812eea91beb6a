"""Links that add to an incident from a record's page and from an access check."""

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from tenants.access import TenantRequest
from tenants.roles import Permission


def draw_record_link(request: TenantRequest) -> SafeString:
    """Draw the link that adds a record to an incident."""
    record = getattr(request, "shown_record", None)
    if record is None:
        return SafeString("")
    return _draw_link(request, reverse("evidence:add_record", args=[request.tenant.slug, record.history_id]))


def draw_check_link(request: TenantRequest) -> SafeString:
    """Draw the link that adds an access check to an incident."""
    there = reverse("evidence:add_rights", args=[request.tenant.slug])
    return _draw_link(request, f"{there}?{request.GET.urlencode()}")


def _draw_link(request: TenantRequest, href: str) -> SafeString:
    if not request.access.can(Permission.EVIDENCE_MAKE):
        return SafeString("")
    return render_to_string("evidence/add.html", {"href": href}, request)
