"""`{% load history %}`: tags and filters for log records on other pages."""

from typing import Any

from django import template
from django.template import Context

from portal.domain.events import MirrorKind
from portal.domain.history import event_words, gaps, request_matching, visibility
from portal.domain.history.filters import status_word
from portal.domain.history.lists import RecentRecords, event_cell
from portal.domain.history.models import History
from portal.domain.intents.models import Intent
from portal.domain.sync import freshness
from tenants.models import current_tenant

register = template.Library()


@register.inclusion_tag("log/happened.html", takes_context=True)
def happened(context: Context, about: str, value: str) -> dict[str, Any]:
    """Draw the newest records, for readers who may see them: `{% happened "person" member.member_id %}`."""
    recent = RecentRecords(context["request"], about, [value])
    return {"request": context["request"], "recent": recent}


@register.simple_tag(takes_context=True)
def log_paused(context: Context, *, is_brief: bool = False) -> str:
    """Return the notice that the log cannot be loaded now, with reason and next try: `{% log_paused %}`."""
    return gaps.paused_text(freshness.freshness_for(context["request"])[MirrorKind.HISTORIES], is_brief=is_brief)


@register.filter
def event(record: History) -> str:
    """Return the event of a record, with chips for anything unusual."""
    return event_cell(record)


@register.filter
def event_text(record: History) -> str:
    """Return the event of a record as a sentence only: `{{ record|event_text }}`."""
    return event_words.event_text(record)


@register.filter
def status(record: History) -> str:
    """Return a record's status in words: `{{ record|status }}`."""
    return status_word(record.status, current_tenant().environment.catalogue.states)


@register.simple_tag(takes_context=True)
def record_of(context: Context, intent: Intent) -> History | None:
    """Return the record that certainly belongs to a request, if visible: `{% record_of intent as record %}`."""
    return request_matching.record_of(intent, visibility.visible_records(context["request"].access))
