"""Template tags for all areas of work: a form's nonce, and an intent's outcome line."""

from dataclasses import replace
from typing import Any

from django import template
from django.utils.safestring import SafeString

from portal.base.ui.outcome_lines import OutcomeLine
from portal.domain.intents import nonces, queries, words
from portal.domain.intents.models import Intent
from tenants import pending_commands

register = template.Library()


@register.simple_tag(takes_context=True)
def intent_nonce(context: dict[str, Any]) -> SafeString:
    """Return hidden inputs that make a form submit one intent, however often it is posted."""
    return nonces.hidden_inputs(nonces.FIELD, context.get("nonce") or nonces.create_nonce(context["request"]))


@register.simple_tag
def click_stamp() -> SafeString:
    """Return hidden inputs with the time of the click, for a form that continues with a pending command."""
    return nonces.hidden_inputs(nonces.STAMP_FIELD, nonces.sign_page_time())


@register.simple_tag(takes_context=True)
def carried_command(context: dict[str, Any]) -> dict[str, str] | None:
    """Return the pending command that this confirmation page continues with: `title` and `page`."""
    return pending_commands.find(context["request"])


@register.simple_tag(takes_context=True)
def outcome_line(context: dict[str, Any], intent: Intent) -> OutcomeLine:
    """Return the outcome line of an intent: `{% outcome_line intent as outcome_of %}{% outcome outcome_of %}`.

    It has no links to the intent for a person who may not see it.
    """
    line, access = words.outcome_of(intent), context["request"].access
    return line if queries.is_visible_to(access, intent) else replace(line, poll_url="", audit_url="")
