"""The doors' parts of every page: search in the command palette (Ctrl-K), and banners for open or held doors."""

from collections.abc import Iterator

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.base.ui import command_palette
from portal.base.ui.command_palette import Hit
from portal.base.ui.frame import Banner
from portal.devices import holds, queries
from portal.devices.models import Hold
from portal.devices.queries import is_held
from portal.domain.mirror.door_states import LOUD_STATES
from portal.domain.mirror.models import DoorState, PassController
from tenants.access import TenantRequest
from tenants.roles import Permission

# More banners would leave too little room for the page.
MAX_BANNERS = 4


def door_banners(request: TenantRequest) -> Iterator[Banner]:
    """Yield a banner for each door that is forced open, left open or held unlocked, the most serious first."""
    if not request.access.can(Permission.DEVICES_VIEW):
        return
    found = list(alarming_doors().defer("status", "extra", "told"))
    found.sort(key=lambda door: (LOUD_STATES.index(DoorState(door.state)), door.name_order, door.pk))
    held = holds.active_holds(door.device_id for door in found[:MAX_BANNERS] if is_held(door))
    for door in found[:MAX_BANNERS]:
        yield _banner_of(request, door, held.get(door.device_id))
    if more := found[MAX_BANNERS:]:
        yield Banner(
            "alarm",
            ngettext("%(n)d more door needs attention.", "%(n)d more doors need attention.", len(more))
            % {"n": len(more)},
            icon="door-enter",
            action=_("All doors"),
            action_url=reverse("devices:index", args=[request.tenant.slug]),
            is_link=True,
        )


def alarming_doors() -> QuerySet[PassController]:
    """Return the doors that are forced open, left open or held unlocked."""
    return PassController.objects.filter(state__in=LOUD_STATES)


def _banner_of(request: TenantRequest, door: PassController, hold: Hold | None) -> Banner:
    lockable = is_held(door) and request.access.can(Permission.DOORS_OPERATE)
    return Banner(
        "alarm",
        _BANNER_TEXTS[DoorState(door.state)]() % {"door": door},
        queries.describe_hold(hold) if hold is not None else "",
        icon="door-enter" if is_held(door) else "alert-triangle",
        since=door.since,
        action=_("Lock now") if lockable else _("Show door"),
        action_url=reverse("devices:door", args=[request.tenant.slug, door.device_id]),
        is_link=True,
    )


_BANNER_TEXTS = {
    DoorState.FORCED_OPEN: lambda: _("%(door)s was forced open."),
    DoorState.LEFT_OPEN: lambda: _("%(door)s was left open."),
    DoorState.HELD_OPEN: lambda: _("%(door)s is held unlocked and is open."),
    DoorState.HELD: lambda: _("%(door)s is held unlocked."),
}


def find_doors(request: TenantRequest, text: str) -> Iterator[Hit]:
    """Yield the first doors by name that contain `text`."""
    found = PassController.objects.filter(device_name__icontains=text).order_by("name_order", "pk")
    for door in found[: command_palette.MAX_HITS]:
        yield Hit(str(door), reverse("devices:door", args=[request.tenant.slug, door.device_id]), "door")
