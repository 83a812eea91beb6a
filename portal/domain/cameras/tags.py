"""Template filters and tags for cameras."""

from typing import Any

from django import template
from django.template import Context
from django.utils.translation import gettext as _

from portal.domain.cameras import door_command_pictures
from portal.domain.intents.models import Intent
from tenants.roles import Permission

register = template.Library()


@register.filter
def span(seconds: float) -> str:
    """Return a duration: `{{ meter.limit|span }}` -> 90 min; below two minutes 75 s, from ten hours on 25 h."""
    if seconds < 120:
        return _("%(n)d s") % {"n": round(seconds)}
    if seconds < 36_000:
        return _("%(n)d min") % {"n": round(seconds / 60)}
    return _("%(n)d h") % {"n": round(seconds / 3600)}


@register.inclusion_tag("cameras/of_command.html", takes_context=True)
def command_pictures(context: Context, intent: Intent) -> dict[str, Any]:
    """Draw the pictures before and after a door's command, for people who may see recordings."""
    request = context["request"]
    may = intent.target.startswith("pass_controller:") and request.access.can(Permission.CAMERAS_RECORDED)
    return {"shown": door_command_pictures.pictures_of(intent) if may else [], "request": request}
