"""A door that somebody holds unlocked from here is on top of every page until it is locked again."""

from collections.abc import Iterator
from datetime import timedelta

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.devices.commands import Command
from portal.intents.models import Intent
from portal.intents.states import State
from portal.mirror.models import PassController
from portal.ui import frame
from portal.ui.frame import Banner
from tenants.roles import Permission

_LOOKS_BACK = timedelta(hours=24)


def held() -> list[tuple[str, Intent]]:
    """(device_id, the command) for each door whose newest successful command holds it unlocked."""
    done = Intent.objects.filter(
        operation="operate_door", state=State.SUCCEEDED, created_at__gte=timezone.now() - _LOOKS_BACK
    )
    newest = (
        done.order_by("target", "-pk").distinct("target").only("tenant_id", "target", "path", "result", "finished_at")
    )
    return [
        (intent.path["device_id"], intent) for intent in newest if intent.result.get("control") == Command.HOLD.value
    ]


def held_open(request: HttpRequest) -> Iterator[Banner]:
    if not request.access.can(Permission.DEVICES_VIEW):
        return
    found = held()
    names = dict(
        PassController.objects.filter(device_id__in=[key for key, _intent in found]).values_list(
            "device_id", "device_name"
        )
        if found
        else []
    )
    for device_id, intent in found:
        yield Banner(
            "alarm",
            _("%(door)s is held unlocked.") % {"door": names.get(device_id) or device_id},
            icon="door-enter",
            since=intent.finished_at,
            action=_("Lock now") if request.access.can(Permission.DOORS_OPERATE) else _("Look at it"),
            action_url=reverse("devices:door", args=[request.tenant.slug, device_id]),
            action_get=True,
        )


def register() -> None:
    frame.banner(held_open)
