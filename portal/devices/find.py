"""Doors in the palette (Ctrl-K)."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from portal.core.mirror.models import PassController
from portal.core.ui import palette
from portal.core.ui.palette import Hit
from tenants.roles import Permission


def doors(request: HttpRequest, text: str) -> Iterator[Hit]:
    """The first doors by name that hold `text`."""
    if not request.access.can(Permission.DEVICES_VIEW):
        return
    found = PassController.objects.filter(device_name__icontains=text).order_by("device_name", "pk")
    for door in found[: palette.MOST]:
        yield Hit(str(door), reverse("devices:door", args=[request.tenant.slug, door.device_id]), "door")


def register() -> None:
    palette.register("doors", _("Doors"), doors)
