"""Find key boxes with the command palette (Ctrl-K) of every page."""

from collections.abc import Iterator
from functools import partial

from django.urls import reverse
from django.utils.translation import gettext_lazy

from portal.base.ui import command_palette
from portal.base.ui.command_palette import Hit
from portal.domain.mirror import freshness
from portal.domain.mirror.kinds import MirrorKind
from portal.domain.mirror.models import KeyBox
from tenants.access import TenantRequest
from tenants.roles import Permission


def find_boxes(request: TenantRequest, text: str) -> Iterator[Hit]:
    """Yield the first key boxes by name that contain `text`."""
    found = KeyBox.objects.filter(key_device_name__icontains=text).order_by("name_order", "pk")
    for box in found.only("tenant_id", "key_device_id", "key_device_name")[: command_palette.MAX_HITS]:
        yield Hit(str(box), reverse("keys:box", args=[request.tenant.slug, box.key_device_id]), "key")


def register() -> None:
    unread = partial(freshness.describe_unread, kind=MirrorKind.KEY_BOXES)
    command_palette.register("key_boxes", gettext_lazy("Key boxes"), find_boxes, Permission.DEVICES_VIEW, unread)
