"""For the templates of every area of work: a form's nonce, and the story of an intent."""

from dataclasses import replace
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from portal.core.intents import nonces, queries, words
from portal.core.intents.models import Intent
from portal.core.ui.outcome_lines import OutcomeLine
from tenants import pending_commands

register = template.Library()


@register.simple_tag(takes_context=True)
def intent_nonce(context: dict[str, Any]) -> SafeString:
    """Hidden inputs that make a form one intent, however often it is sent."""
    return _hidden_inputs(nonces.FIELD, context.get("nonce") or nonces.create_nonce(context["request"]))


@register.simple_tag
def click_stamp() -> SafeString:
    """Hidden inputs that tell when the button was pressed, for a form that carries a command through."""
    return _hidden_inputs(nonces.STAMP_FIELD, nonces.sign_page_time())


def _hidden_inputs(name: str, value: str) -> SafeString:
    """The value, and what `static/js/clicked.js` counts in."""
    hidden = '<input type="hidden" name="{}" value="{}"><input type="hidden" name="{}" value="" data-elapsed>'
    return format_html(hidden, name, value, nonces.ELAPSED_FIELD)


@register.simple_tag(takes_context=True)
def carried_command(context: dict[str, Any]) -> dict[str, str] | None:
    """What this page of confirming would carry through: `title` and `page`."""
    return pending_commands.find(context["request"])


@register.simple_tag(takes_context=True)
def story_of(context: dict[str, Any], intent: Intent) -> OutcomeLine:
    """`{% story_of intent as outcome_of %}{% outcome outcome_of %}`. Who may not look at the intent is not led to its
    address."""
    told, access = words.outcome_of(intent), context["request"].access
    return told if queries.is_visible_to(access, intent) else replace(told, poll_url="", audit_url="")
