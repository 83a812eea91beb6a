"""Find key boxes with the command palette (Ctrl-K) of every page."""

from collections.abc import Iterator

from django.urls import reverse

from portal.base.ui import command_palette
from portal.base.ui.command_palette import Hit
from portal.domain.mirror.models import KeyBox
from tenants.access import TenantRequest


def find_boxes(request: TenantRequest, text: str) -> Iterator[Hit]:
    """Yield the first key boxes by name that contain `text`."""
    found = KeyBox.objects.filter(key_device_name__icontains=text).order_by("name_order", "pk")
    for box in found.only("tenant_id", "key_device_id", "key_device_name")[: command_palette.MAX_HITS]:
        yield Hit(str(box), reverse("keys:box", args=[request.tenant.slug, box.key_device_id]), "key")
