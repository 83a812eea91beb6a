"""Template tags for why data is not available (`{% load sync %}`)."""

from django import template
from django.template.context import Context

from portal.domain.events import MirrorKind
from portal.domain.sync import freshness

register = template.Library()


@register.simple_tag(takes_context=True)
def why_nothing(context: Context, kind: str, operation: str = "") -> freshness.Absence | None:
    """Return why a kind is not available, or None: `{% why_nothing "guests" "create_guest" as why %}`.

    Without a kind (""), only refusals of the operation count.
    """
    return freshness.absence(context["request"], MirrorKind(kind) if kind else None, operation)


@register.simple_tag(takes_context=True)
def unread(context: Context, kind: str) -> str:
    """Return why a search without results may be incomplete: `{% unread "members" %}` beside "nothing found"."""
    return freshness.describe_unread(context["request"], MirrorKind(kind))
