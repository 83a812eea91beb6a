"""Queries of intents for pages, limited to the tenant in scope."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet

from portal.base.ui.url_lookup import get_row_or_404
from portal.domain.budget import quota
from portal.domain.budget.priorities import Priority
from portal.domain.intents.models import UNDER_WAY, Intent, Reason, State
from tenants.access import Access, TenantRequest
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission


def open_intents() -> QuerySet[Intent]:
    """Return intents in progress, and intents that only a person can resolve."""
    return Intent.objects.filter(state__in=[*UNDER_WAY, State.UNCERTAIN]).select_related("by").order_by("-id")


def count_uncertain() -> QuerySet[Any, Any]:
    """Return the number of requests with an unknown result, as one row."""
    found = Intent.objects.filter(state=State.UNCERTAIN)
    return found.order_by().values("tenant").annotate(n=Count("pk")).values_list("n")


def latest_intents(target: str = "") -> QuerySet[Intent]:
    rows = Intent.objects.select_related("by").order_by("-id")
    return rows.filter(target=target) if target else rows


def send_expected_at(intent: Intent) -> datetime | None:
    """Return when an intent that waits for API calls is expected to be sent; None for all others."""
    if intent.state != State.QUEUED or intent.reason != Reason.BUDGET or intent.due_at is None:
        return None
    connection = current_connection()
    operation = connection.tenant.environment.catalogue.find(intent.operation)
    return max(intent.due_at, quota.next_call_at(connection, Priority(intent.priority), operation.call_class))


def visible_to(access: Access) -> QuerySet[Intent]:
    """Return the intents that a person may see: their own, and those whose permission they have; an auditor, all.

    So a guard sees the commands of other guards on the door's page, and can follow them.
    """
    if access.can(Permission.AUDIT_VIEW):
        return Intent.objects.all()
    mine_to_ask = [str(permission) for permission in access.permissions]
    return Intent.objects.filter(Q(by=access.user) | Q(permission__in=mine_to_ask))


def is_visible_to(access: Access, intent: Intent) -> bool:
    """Return whether a person may see this intent, which a page shows for another reason."""
    mine_to_ask = {str(permission) for permission in access.permissions}
    return access.can(Permission.AUDIT_VIEW) or intent.by_id == access.user.pk or intent.permission in mine_to_ask


def get_intent(request: TenantRequest, intent_id: int, of: Permission | None = None) -> Intent:
    """Return the tenant's intent that the person may see (`visible_to`), or raise 404 as for a missing one.

    With `of`, only intents with that permission are found.
    """
    rows = visible_to(request.access).select_related("by", "tenant__environment", "resolved_by")
    if of is not None:
        rows = rows.filter(permission=of.value)
    return get_row_or_404(rows, pk=intent_id)
