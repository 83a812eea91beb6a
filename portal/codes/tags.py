"""The template tags of `{% load codes_pages %}`, which show a code on the desk's pages."""

from typing import Any

from django import template
from django.template.context import Context
from django.utils.translation import gettext as _

from portal.base.ui import qr_drawing
from portal.codes.badges import hours_of, symbol_of
from portal.domain.people.models import Guest
from portal.domain.visits.models import Stage, Visit
from portal.domain.visits.queries import code_data_of
from tenants.roles import Permission

register = template.Library()


@register.inclusion_tag("guests/codes/code.html", takes_context=True)
def guest_code(context: Context, visit: Visit | Guest, trouble: str = "") -> dict[str, Any]:
    """Render `{% guest_code visit %}`: the code, large, with its hours in words.

    If the code is not loaded, a button reads it from the service. People without the permission see only the words.
    """
    request = context["request"]
    known = visit if isinstance(visit, Visit) else Visit.objects.filter(guest_id=visit.guest_id).first()
    if known is None:
        return {"visit": None}
    at, may_see = hours_of(known), request.access.can(Permission.GUESTS_DESK)
    data = code_data_of(known) if may_see and not at.is_over else ""
    drawn = symbol_of(data)
    return {
        "request": request,
        "csrf_token": context.get("csrf_token"),
        "visit": known,
        "hours": at,
        "picture": qr_drawing.draw_svg(drawn, _label(known)) if drawn else "",
        "undrawable": bool(data and drawn is None),
        "may_see": may_see,
        "issued": known.stage == Stage.ISSUED and bool(known.guest_id),
        "trouble": trouble,
    }


def _label(visit: Visit) -> str:
    return _("QR code of %(name)s") % {"name": visit}
