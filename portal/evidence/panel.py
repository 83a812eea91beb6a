"""Adding to an incident from where things are seen: a record's page, and an access check."""

from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from portal.core.ui import panels
from portal.evidence.models import Incident
from tenants.access import TenantRequest
from tenants.roles import Permission

# Open incidents to choose from, the newest.
_MOST = 50


def draw_for_record(request: TenantRequest) -> SafeString:
    """Draw the form that adds the record of a page to an incident."""
    record = getattr(request, "shown_record", None)
    if record is None:
        return SafeString("")
    action = reverse("evidence:add_record", args=[request.tenant.slug, record.history_id])
    return _form(request, {"action": action, "began_at": record.at})


def draw_for_check(request: TenantRequest) -> SafeString:
    """Draw the form that adds what an access check says, once it says something."""
    if not (request.GET.get("member") and (request.GET.get("place") or request.GET.get("area"))):
        return SafeString("")
    action = f"{reverse('evidence:add_rights', args=[request.tenant.slug])}?{request.GET.urlencode()}"
    return _form(request, {"action": action, "began_at": None})


def _form(request: TenantRequest, told: dict[str, Any]) -> SafeString:
    if not request.access.can(Permission.EVIDENCE_MAKE):
        return SafeString("")
    incidents = Incident.objects.filter(closed_at=None).order_by("-number").only("number", "title", "tenant_id")
    return render_to_string("evidence/add.html", {**told, "incidents": incidents[:_MOST]}, request)


def register() -> None:
    panels.register("record", draw_for_record)
    panels.register("access_check", draw_for_check)
