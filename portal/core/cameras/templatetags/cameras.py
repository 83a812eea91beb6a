"""Words of cameras in templates."""

from django import template
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def span(seconds: float) -> str:
    """`{{ meter.limit|span }}` -> 90 min; below two minutes 75 s, from ten hours on 25 h."""
    if seconds < 120:
        return _("%(n)d s") % {"n": round(seconds)}
    if seconds < 36_000:
        return _("%(n)d min") % {"n": round(seconds / 60)}
    return _("%(n)d h") % {"n": round(seconds / 3600)}
