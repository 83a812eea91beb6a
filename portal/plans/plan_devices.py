"""Place devices on floor plans with their present state: doors, key boxes and cameras."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from unicodedata import east_asian_width

from django.urls import reverse
from django.utils.translation import gettext as _

from portal.base.ui import live_updates
from portal.base.ui.chips import Chip
from portal.devices import queries
from portal.domain.alerts.overdue_keys import state_of_box
from portal.domain.cameras.models import Camera
from portal.domain.cameras.tiles import latest_picture_of, latest_pictures, state_of
from portal.domain.places.models import KeyBox, PassController
from portal.plans.models import FloorPlan, Placed, Placement
from tenants.models import Tenant

# The width of a picture in drawing units.
WIDTH = 1000
# The width of a name under its mark, in columns; a full-width character takes two.
_COLUMNS = 16
_ICONS = {Placed.DOOR: "door", Placed.KEY_BOX: "key", Placed.CAMERA: "video"}


@dataclass(frozen=True)
class PlanDevice:
    """A device that can be placed, with its state. `rank` sorts the most serious states first."""

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
        """Return the CSS class of its mark, which depends on the state."""
        return self.chip.tone

    @property
    def has_label(self) -> bool:
        """Check whether the mark shows its state. Quiet devices and cameras that were never viewed have no label."""
        return self.chip.tone != "quiet" and (self.kind, self.chip.state) != (Placed.CAMERA, "unknown")

    @property
    def title(self) -> str:
        return _("%(name)s: %(state)s") % {"name": self.name, "state": self.chip.word}

    @property
    def short_name(self) -> str:
        """Return the name, shortened to the space under the mark."""
        ends = list(accumulate(1 + (east_asian_width(each) in "WF") for each in self.name))
        fitting = sum(end < _COLUMNS for end in ends)
        return self.name if not ends or ends[-1] <= _COLUMNS else f"{self.name[:fitting].rstrip()}…"


@dataclass(frozen=True)
class PlanMark:
    """A device at its position, in drawing units."""

    device: PlanDevice
    x: float
    y: float


def load_devices(tenant: Tenant) -> dict[str, PlanDevice]:
    """Return all doors, key boxes and cameras of the tenant by their key. Doors with serious states come first."""
    slug, states = tenant.slug, tenant.environment.catalogue.states
    found = [_door(tenant, place, door) for place, door in enumerate(queries.by_urgency())]
    for box in KeyBox.objects.order_by("name_order", "pk"):
        href, state = reverse("keys:box", args=[slug, box.key_device_id]), state_of_box(box, states)
        found.append(PlanDevice(Placed.KEY_BOX, box.key_device_id, str(box), state, href, rank=(2, str(box))))
    for camera in Camera.objects.order_by("name_order", "pk").prefetch_related(latest_pictures()):
        href, state = (
            reverse("cameras:camera", args=[slug, camera.camera_id]),
            state_of(camera, latest_picture_of(camera)),
        )
        found.append(PlanDevice(Placed.CAMERA, camera.camera_id, str(camera), state, href, rank=(3, camera.name_order)))
    return {device.key: device for device in found}


def _door(tenant: Tenant, place: int, door: PassController) -> PlanDevice:
    href = reverse("devices:door", args=[tenant.slug, door.device_id])
    state = queries.state_of(door, tenant.environment.catalogue.states)
    return PlanDevice(Placed.DOOR, door.device_id, str(door), state, href, rank=(0 if door.attention else 1, place))


def device_of(row: Placement, devices: Mapping[str, PlanDevice]) -> PlanDevice:
    """Return the device of a placement, even if the service no longer lists it."""
    kind = Placed(row.kind)
    if found := devices.get(row.key):
        return found
    if kind == Placed.CAMERA:
        return PlanDevice(kind, row.identifier, row.identifier, Chip("unknown"), rank=(3, row.identifier))
    name = _("%(id)s (no longer listed)") % {"id": row.identifier}
    return PlanDevice(kind, row.identifier, name, Chip("unknown"), rank=(1, 0), is_gone=True)


@dataclass(frozen=True)
class PlanDrawing:
    """A plan with its devices. `listed_devices` has the most serious states first."""

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
        return [device for device in self.listed_devices if device.kind == Placed.DOOR]

    @property
    def problem_count(self) -> int:
        return sum(door.tone in ("alarm", "loud", "hatched") for door in self.doors)

    @property
    def unknown_count(self) -> int:
        return sum(door.tone == "unknown" for door in self.doors)

    @property
    def version(self) -> str:
        """Return the version of the drawing."""
        marks = [(mark.x, mark.y, mark.device.key, mark.device.name, str(mark.device.chip)) for mark in self.marks]
        return live_updates.version_of(self.plan.mark, marks)


def draw(tenant: Tenant, plan: FloorPlan) -> PlanDrawing:
    """Return a plan with its devices and their present state."""
    things = load_devices(tenant)
    return PlanDrawing(plan, [mark_of(plan, row, things) for row in placements(plan)])


def draw_door(tenant: Tenant, door: PassController) -> PlanDrawing | None:
    """Return the first plan, by name, that a door is on, with the door alone; None if it is on no plan."""
    rows = Placement.objects.filter(kind=Placed.DOOR, identifier=door.device_id).select_related("plan")
    row = rows.defer("plan__content").order_by("plan__name").first()
    if row is None:
        return None
    return PlanDrawing(row.plan, [mark_of(row.plan, row, {row.key: _door(tenant, 0, door)})])


def placements(plan: FloorPlan) -> Iterable[Placement]:
    """Return a plan's placements in a stable order."""
    return Placement.objects.filter(plan=plan).order_by("kind", "identifier")


def mark_of(plan: FloorPlan, row: Placement, things: Mapping[str, PlanDevice]) -> PlanMark:
    return PlanMark(device_of(row, things), row.x, round(row.y * height_of(plan) / 1000, 1))


def view_box_of(plan: FloorPlan) -> str:
    """Return the SVG view box, with space for marks and labels at the edges."""
    return f"-24 -24 {WIDTH + 48} {height_of(plan) + 76}"


def height_of(plan: FloorPlan) -> int:
    """Return the drawing's height in units; its width is WIDTH."""
    return max(round(WIDTH * plan.height / plan.width), 1)
