"""`{% load log %}`: what happened, on the pages of people and places."""

from typing import Any

from django import template
from django.template import Context

from portal.core.log.happened import Happened
from portal.core.log.lists import what
from portal.core.mirror.models import History

register = template.Library()


@register.inclusion_tag("log/happened.html", takes_context=True)
def happened(context: Context, about: str, value: str, *, follow: bool = True, late: bool = False) -> dict[str, Any]:
    """`{% happened "person" member.member_id %}`: the newest records, for whoever may see any."""
    here = Happened(context["request"], about, [value], follow=follow, late=late)
    return {"request": context["request"], "here": here}


@register.filter
def event(record: History) -> str:
    """What a record says happened, with what makes it more than usual."""
    return what(record)
