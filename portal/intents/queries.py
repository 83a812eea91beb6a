"""What is under way and what was lately asked, of the tenant in scope."""

from django.db.models import QuerySet

from portal.intents.models import Intent
from portal.intents.states import UNDER_WAY, State


def under_way() -> QuerySet[Intent]:
    return Intent.objects.filter(state__in=UNDER_WAY).select_related("by").order_by("-id")


def open_ones() -> QuerySet[Intent]:
    """Those under way, and those that only a person can resolve."""
    return Intent.objects.filter(state__in=[*UNDER_WAY, State.UNCERTAIN]).select_related("by").order_by("-id")


def latest(target: str = "") -> QuerySet[Intent]:
    rows = Intent.objects.select_related("by").order_by("-id")
    return rows.filter(target=target) if target else rows
