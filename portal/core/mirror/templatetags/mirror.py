"""`{% load mirror %}`: why nothing is known of something, on any page."""

from django import template
from django.template.context import Context

from portal.core.mirror import freshness
from portal.core.mirror.kinds import MirrorKind

register = template.Library()


@register.simple_tag(takes_context=True)
def why_nothing(context: Context, kind: str, operation: str = "") -> freshness.Absence | None:
    """`{% why_nothing "guests" "create_guest" as why %}`: None where the kind is known as it should be.

    Without a kind ("") only what the service refused of the operation counts.
    """
    return freshness.absence(context["request"], MirrorKind(kind) if kind else None, operation)


@register.simple_tag(takes_context=True)
def unread(context: Context, kind: str) -> str:
    """`{% describe_unread "members" %}`: beside "nothing found", what is not known of the list that was searched."""
    return freshness.describe_unread(context["request"], MirrorKind(kind))
