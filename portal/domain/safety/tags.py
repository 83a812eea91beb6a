"""The notice on a settings page about a change that waits for a second person."""

from typing import Any

from django import template

from portal.domain.safety.changing import waiting_changes

register = template.Library()


@register.inclusion_tag("safety/waiting.html", takes_context=True)
def waiting_change(context: dict[str, Any], rule: str, subject: object = "") -> dict[str, Any]:
    """Show the waiting change of this setting, if there is one."""
    rows = waiting_changes().select_related("requested_by").filter(rule=rule, subject=str(subject))
    return {"change": rows.first(), "request": context["request"]}
