"""The door of an alert on the alert's page: its state now, and its commands."""

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from portal.devices.actions import DoorCommand
from portal.devices.views import live_context
from portal.domain.places.models import PassController
from portal.domain.places.queries import areas_by_door
from tenants.access import TenantRequest
from tenants.connections.service_clients import current_connection
from tenants.roles import Permission


def draw_door_of_alert(request: TenantRequest) -> SafeString:
    """Draw the door of `request.shown_alert`; nothing if it has none that this person may see."""
    alert = getattr(request, "shown_alert", None)
    if alert is None or not alert.door_id or not request.access.can(Permission.DEVICES_VIEW):
        return SafeString("")
    door = PassController.objects.filter(device_id=alert.door_id).first()
    if door is None:
        return SafeString("")
    context = live_context(request, door)
    licensed = current_connection().has_licence_key
    context |= {"licensed": licensed, "is_of_alert": True}
    context["may_lock_down"] = licensed and request.access.can(Permission.LOCKDOWN)
    if context["may_lock_down"]:
        context["areas"] = areas_by_door().get(door.device_id, [])
    context["commands"] = [each for each in DoorCommand if each is not DoorCommand.HOLD]
    return render_to_string("devices/of_alert.html", context | {"alert": alert}, request)
