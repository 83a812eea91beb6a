"""The cameras of a door on its page."""

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from portal.core.cameras import tiles
from portal.core.ui import panels
from tenants.access import TenantRequest


def draw(request: TenantRequest) -> SafeString:
    """Draw the pictures of the door that the request is for; nothing where no camera looks at it."""
    match = request.resolver_match
    device_id = match.kwargs.get("device_id", "") if match else ""
    found = tiles.at_door(request, device_id)
    if not found:
        return SafeString("")
    context = {"tiles": found, "seen": tiles.mark_of(found), "device_id": device_id}
    return render_to_string("cameras/at_door.html", context, request)


def register() -> None:
    panels.register("door", draw)
