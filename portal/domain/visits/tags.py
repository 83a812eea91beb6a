"""`{% load visits %}`: filters for numbers and times at the desk."""

from datetime import datetime

from django import template

from portal.domain.visits.days import Day

register = template.Library()


@register.filter
def thousands(number: int) -> str:
    """Return a number with separators: `{{ 1890|thousands }}` -> 1,890."""
    return f"{number:,}"


@register.filter
def at(moment: datetime | None) -> str:
    """Return a time, with the date if it is not today: `{{ visit.arrived_at|at }}` -> 09:41."""
    return Day.today().time_text(moment)
