"""Template tags of the log: `{% load history_pages %}`."""

from typing import Any

from django import template
from django.template import Context

from portal.domain.history import filters
from portal.history import searches
from portal.history.models import NAME_MAX
from tenants.roles import Permission

register = template.Library()
# As many as fit in two lines; the others need one more click.
MAX_QUICK = 8


@register.inclusion_tag("history/saved.html", takes_context=True)
def saved_searches(context: Context) -> dict[str, Any]:
    """Show the tenant's saved searches, and a form that saves the list's present filters."""
    request = context["request"]
    if not request.access.can(Permission.LOGS_VIEW):
        return {}
    saved, query = searches.list_searches(request), filters.chosen_filters(request.GET).urlencode()
    quick = [each for place, each in enumerate(saved) if place < MAX_QUICK or each.is_current]
    return {
        "request": request,
        "csrf_token": context.get("csrf_token"),
        "is_there": True,
        "quick": quick,
        "current": next((each for each in saved if each.is_current), None),
        "more": len(saved) - len(quick),
        "query": query,
        "may_save": bool(query) and not any(each.is_current for each in saved),
        "most_letters": NAME_MAX,
    }
