"""`{% load visits %}`: times as the desk reads them."""

from datetime import datetime

from django import template

from portal.core.visits.days import Day

register = template.Library()


@register.filter
def thousands(number: int) -> str:
    """`{{ 1890|thousands }}` -> 1,890"""
    return f"{number:,}"


@register.filter
def at(moment: datetime | None) -> str:
    """`{{ visit.arrived_at|at }}` -> 09:41, with the date before it on another day than today"""
    return Day.today().time_text(moment)
