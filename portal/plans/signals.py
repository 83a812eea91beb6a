"""Register the area's parts that other apps run or show."""

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from portal.base.ui import nav, panels
from portal.base.ui.nav import NavEntry
from portal.domain.places.models import PassController
from portal.plans import plan_devices
from portal.plans.models import FloorPlan
from tenants.access import TenantRequest
from tenants.audit_log import targets
from tenants.roles import Permission
from tenants.sentences import register_sentences, register_subject, register_targets

nav.register(NavEntry("plans", _("Floor plans"), "map-2", "plans:index", Permission.DEVICES_VIEW))


def draw_plan_of_alert(request: TenantRequest) -> SafeString:
    """Draw the floor plan with the door of `request.shown_alert`; nothing if the door is on no plan."""
    alert = getattr(request, "shown_alert", None)
    if alert is None or not request.access.can(Permission.DEVICES_VIEW):
        return SafeString("")
    door = PassController.objects.filter(device_id=alert.door_id).first() if alert.door_id else None
    drawing = plan_devices.draw_door(request.tenant, door) if door is not None else None
    return render_to_string("plans/of_alert.html", {"drawing": drawing}, request) if drawing else SafeString("")


panels.register("alert", draw_plan_of_alert)
register_subject("plan", _("Floor plans"), "plan")
register_sentences(
    {
        "plan.added": _("Floor plan added: %(name)s"),
        "plan.replaced": _("Floor plan replaced: %(name)s"),
        "plan.edited": _("Floor plan edited: %(name)s"),
        "plan.deleted": _("Floor plan deleted: %(name)s"),
    }
)
register_targets({"plan": _("Floor plan")})
targets.register_names("plan", FloorPlan, "pk", "name")
