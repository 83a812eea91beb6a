"""Moments and durations of an answer in words."""

from datetime import datetime

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.core.ui.times import local

register = template.Library()


@register.filter
def edge(moment: datetime | None, beside: datetime | None = None) -> str:
    """`{{ answer.until|edge:at }}` -> 19:00 on the same day, 2026-11-23 08:00 on another."""
    if moment is None:
        return ""
    there = local(moment)
    same_day = beside is not None and local(beside).date() == there.date()
    return there.strftime("%H:%M" if same_day else "%Y-%m-%d %H:%M")


@register.filter
def lasting(end: datetime | None, start: datetime | None) -> str:
    """`{{ answer.until|lasting:at }}` -> 2 h 10 min; rounded to what matters."""
    if end is None or start is None:
        return ""
    minutes = max(round((end - start).total_seconds() / 60), 1)
    hours, days = minutes // 60, minutes // 1440
    if days >= 2:
        return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
    if not hours:
        return ngettext("%(n)d min", "%(n)d min", minutes) % {"n": minutes}
    if not minutes % 60:
        return ngettext("%(n)d h", "%(n)d h", hours) % {"n": hours}
    return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes % 60}
