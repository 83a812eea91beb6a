"""What stands on floor plans, as it is known now: doors, key boxes and cameras by their state."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from unicodedata import east_asian_width

from django.urls import reverse
from django.utils.translation import gettext as _

from portal.core.cameras.models import Camera
from portal.core.cameras.states import state_of
from portal.core.cameras.tiles import latest_picture_of, latest_pictures
from portal.core.keys.states import state_of_box
from portal.core.mirror.models import KeyBox, PassController
from portal.core.ui import live_updates
from portal.core.ui.chips import Chip
from portal.devices import queries
from portal.plans.models import FloorPlan, Placed, Placement
from tenants.models import Tenant

# Of a picture's width, in the units of the drawing.
WIDTH = 1000
# Columns of a name under its mark; a character of full width takes two.
_COLUMNS = 16
_ICONS = {Placed.DOOR: "door", Placed.KEY_BOX: "key", Placed.CAMERA: "video"}


@dataclass(frozen=True)
class PlanDevice:
    """What can be placed, with its state; `rank` orders the most alarming first."""

    kind: Placed
    identifier: str
    name: str
    chip: Chip
    href: str = ""
    rank: tuple[Any, ...] = ()
    is_gone: bool = False

    @property
    def key(self) -> str:
        return f"{self.kind.value}:{self.identifier}"

    @property
    def icon(self) -> str:
        return self.chip.icon if self.kind == Placed.DOOR else _ICONS[self.kind]

    @property
    def tone(self) -> str:
        """The class of its mark: that of its state."""
        return self.chip.tone

    @property
    def has_label(self) -> bool:
        """Whether its mark says its state: not of what is calm, nor of a camera at which nobody looked."""
        return self.chip.tone != "quiet" and (self.kind, self.chip.state) != (Placed.CAMERA, "unknown")

    @property
    def short_name(self) -> str:
        """The name as there is room for it under the mark."""
        ends = list(accumulate(1 + (east_asian_width(each) in "WF") for each in self.name))
        fitting = sum(end < _COLUMNS for end in ends)
        return self.name if not ends or ends[-1] <= _COLUMNS else f"{self.name[:fitting].rstrip()}…"


@dataclass(frozen=True)
class PlanMark:
    """A thing at its place, in units of the drawing."""

    device: PlanDevice
    x: float
    y: float


def load_devices(tenant: Tenant) -> dict[str, PlanDevice]:
    """Return all doors, key boxes and cameras of the tenant by their key, the most alarming doors first."""
    slug, words = tenant.slug, tenant.environment.catalogue.states
    found = [_door(tenant, place, door) for place, door in enumerate(queries.by_urgency())]
    for box in KeyBox.objects.order_by("name_order", "pk"):
        href, state = reverse("keys:box", args=[slug, box.key_device_id]), state_of_box(box, words)
        found.append(PlanDevice(Placed.KEY_BOX, box.key_device_id, str(box), state, href, rank=(2, str(box))))
    for camera in Camera.objects.order_by("name_order", "pk").prefetch_related(latest_pictures()):
        href, state = (
            reverse("cameras:camera", args=[slug, camera.camera_id]),
            state_of(camera, latest_picture_of(camera)),
        )
        found.append(PlanDevice(Placed.CAMERA, camera.camera_id, str(camera), state, href, rank=(3, camera.name_order)))
    return {thing.key: thing for thing in found}


def _door(tenant: Tenant, place: int, door: PassController) -> PlanDevice:
    href = reverse("devices:door", args=[tenant.slug, door.device_id])
    state = queries.state_of(door, tenant.environment.catalogue.states)
    return PlanDevice(Placed.DOOR, door.device_id, str(door), state, href, rank=(0 if door.attention else 1, place))


def device_of(row: Placement, devices: Mapping[str, PlanDevice]) -> PlanDevice:
    """Return the thing that a placement is about, also when the service does not list it any more."""
    kind = Placed(row.kind)
    if found := devices.get(row.key):
        return found
    if kind == Placed.CAMERA:
        return PlanDevice(kind, row.identifier, row.identifier, Chip("unknown"), rank=(3, row.identifier))
    name = _("%(id)s (no longer listed)") % {"id": row.identifier}
    return PlanDevice(kind, row.identifier, name, Chip("unknown"), rank=(1, 0), is_gone=True)


@dataclass(frozen=True)
class PlanDrawing:
    """A plan with what stands on it, the most alarming first in `listed_devices`."""

    plan: FloorPlan
    marks: list[PlanMark]

    @property
    def height(self) -> int:
        return height_of(self.plan)

    @property
    def view_box(self) -> str:
        return view_box_of(self.plan)

    @property
    def listed_devices(self) -> list[PlanDevice]:
        return [mark.device for mark in sorted(self.marks, key=lambda mark: mark.device.rank)]

    @property
    def doors(self) -> list[PlanDevice]:
        return [thing for thing in self.listed_devices if thing.kind == Placed.DOOR]

    @property
    def problem_count(self) -> int:
        return sum(thing.tone in ("alarm", "loud", "hatched") for thing in self.doors)

    @property
    def unknown_count(self) -> int:
        return sum(thing.tone == "unknown" for thing in self.doors)

    @property
    def version(self) -> str:
        """What the drawing is known by."""
        marks = [(mark.x, mark.y, mark.device.key, mark.device.name, str(mark.device.chip)) for mark in self.marks]
        return live_updates.version_of(self.plan.mark, marks)


def draw(tenant: Tenant, plan: FloorPlan) -> PlanDrawing:
    """Return a plan with what stands on it now."""
    things = load_devices(tenant)
    return PlanDrawing(plan, [mark_of(plan, row, things) for row in placements(plan)])


def placements(plan: FloorPlan) -> Iterable[Placement]:
    """Return what is placed on a plan, in a steady order."""
    return Placement.objects.filter(plan=plan).order_by("kind", "identifier")


def mark_of(plan: FloorPlan, row: Placement, things: Mapping[str, PlanDevice]) -> PlanMark:
    return PlanMark(device_of(row, things), row.x, round(row.y * height_of(plan) / 1000, 1))


def view_box_of(plan: FloorPlan) -> str:
    """What is seen of a drawing: with room for marks at its edges and for their words."""
    return f"-24 -24 {WIDTH + 48} {height_of(plan) + 76}"


def height_of(plan: FloorPlan) -> int:
    """The drawing's height, in units of which it is WIDTH wide."""
    return max(round(WIDTH * plan.height / plan.width), 1)
