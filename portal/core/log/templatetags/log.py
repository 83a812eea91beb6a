"""`{% load log %}`: what happened, on the pages of people and places."""

from typing import Any

from django import template
from django.template import Context

from portal.core.intents.models import Intent
from portal.core.log import gaps, request_matching, visibility
from portal.core.log.filters import status_word
from portal.core.log.lists import event_cell, text_of
from portal.core.log.recent_records import RecentRecords
from portal.core.mirror import freshness
from portal.core.mirror.kinds import MirrorKind
from portal.core.mirror.models import History
from tenants.models import current_tenant

register = template.Library()


@register.inclusion_tag("log/happened.html", takes_context=True)
def happened(context: Context, about: str, value: str) -> dict[str, Any]:
    """`{% happened "person" member.member_id %}`: the newest records, for whoever may see any."""
    here = RecentRecords(context["request"], about, [value])
    return {"request": context["request"], "here": here}


@register.simple_tag(takes_context=True)
def log_paused(context: Context, *, is_brief: bool = False) -> str:
    """`{% log_paused %}`: beside what rests on the log, that it cannot be read now, why and until when."""
    return gaps.paused_text(freshness.freshness_for(context["request"])[MirrorKind.HISTORIES], is_brief=is_brief)


@register.filter
def event(record: History) -> str:
    """What a record says happened, with what makes it more than usual."""
    return event_cell(record)


@register.filter
def said(record: History) -> str:
    """`{{ record|said }}`: what a record says happened, in the service's words alone."""
    return text_of(record)


@register.filter
def status(record: History) -> str:
    """`{{ record|status }}`: whether it is over, in words."""
    return status_word(record.status, current_tenant().environment.catalogue.states)


@register.simple_tag(takes_context=True)
def record_of(context: Context, intent: Intent) -> History | None:
    """`{% record_of intent as record %}`: the record that surely tells of a request, if the reader may see it."""
    return request_matching.record_of(intent, visibility.visible_records(context["request"].access))
