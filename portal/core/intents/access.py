"""Which intents a person may look at: their own, those of a kind they may ask for, all with the audit trail's right."""

from django.db.models import Q
from django.http import HttpRequest

from portal.core.intents.models import Intent
from portal.core.ui import lookups
from tenants.roles import Permission


def get_intent(request: HttpRequest, intent_id: int, of: Permission | None = None) -> Intent:
    """The tenant's intent, or 404 exactly as for a missing one; with `of`, one that asks for that permission."""
    rows = Intent.objects.select_related("by", "tenant__environment", "resolved_by")
    if not request.access.can(Permission.AUDIT_VIEW):
        # A guard sees the other guards' commands on the door's page, and follows them there to their end.
        mine_to_ask = [str(permission) for permission in request.access.permissions]
        rows = rows.filter(Q(by=request.user) | Q(permission__in=mine_to_ask))
    if of is not None:
        rows = rows.filter(permission=of.value)
    return lookups.get(rows, pk=intent_id)
