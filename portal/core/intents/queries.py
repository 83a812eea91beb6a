"""What is under way and what was lately asked, of the tenant in scope."""

from datetime import datetime

from django.db.models import QuerySet

from portal.core.budget import outlook
from portal.core.budget.priorities import Priority
from portal.core.intents.models import Intent
from portal.core.intents.states import UNDER_WAY, Reason, State
from tenants.connections.service import current_connection


def under_way() -> QuerySet[Intent]:
    return Intent.objects.filter(state__in=UNDER_WAY).select_related("by").order_by("-id")


def open_ones() -> QuerySet[Intent]:
    """Those under way, and those that only a person can resolve."""
    return Intent.objects.filter(state__in=[*UNDER_WAY, State.UNCERTAIN]).select_related("by").order_by("-id")


def latest(target: str = "") -> QuerySet[Intent]:
    rows = Intent.objects.select_related("by").order_by("-id")
    return rows.filter(target=target) if target else rows


def goes_on_at(intent: Intent) -> datetime | None:
    """When an intent that waits for the hour's calls is expected to be sent; None for one that does not wait so."""
    if intent.state != State.QUEUED or intent.reason != Reason.BUDGET or intent.due_at is None:
        return None
    connection = current_connection()
    operation = connection.tenant.environment.catalogue.operation(intent.operation)
    return max(intent.due_at, outlook.goes_on_at(connection, Priority(intent.priority), operation.call_class))
