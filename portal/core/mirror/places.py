"""Which areas doors lead to, and which way."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from portal.core.mirror.models import Area

# Of records of other categories the specification does not say that a door opened.
USED = "normal"


class Place(NamedTuple):
    """An area that a door leads to; `side` is in_out as the service says it."""

    name: str
    side: str
    area_id: str


class Lead(NamedTuple):
    """Where a door stands in an area. `inward`: whoever passes is then inside; the way into an area outside is not."""

    name: str
    area_id: str
    is_outside: bool
    inward: bool


def places() -> dict[str, list[Place]]:
    """For each device_id, the areas it leads to."""
    found: dict[str, list[Place]] = defaultdict(list)
    for area in Area.objects.all():
        for device_id, side in _doors(area):
            found[device_id].append(Place(area.area_name, side, area.area_id))
    return found


def areas_with_doors() -> QuerySet[Area]:
    """The areas with what tells which way their doors lead."""
    return Area.objects.only("tenant_id", "area_id", "area_name", "is_outside", "devices_list").order_by("pk")


def leads(areas: Iterable[Area] | None = None) -> dict[str, list[Lead]]:
    """For each device_id, which way it leads in its areas: in these, or in those there are, read in one statement."""
    found: dict[str, list[Lead]] = defaultdict(list)
    for area in areas_with_doors() if areas is None else areas:
        outside = bool(area.is_outside)
        for device_id, side in _doors(area):
            found[device_id].append(Lead(area.area_name, area.area_id, outside, (side == "in") != outside))
    return found


def leads_out(known: Mapping[str, Sequence[Lead]]) -> set[str]:
    """Return the doors by which people leave an area, or step outside, and enter none."""
    return {device_id for device_id, found in known.items() if not any(lead.inward for lead in found)}


def _doors(area: Area) -> list[tuple[str, str]]:
    """(device_id, in_out) of an area's doors, as far as the service's list is one."""
    listed = area.devices_list if isinstance(area.devices_list, list) else []
    found = [entry for entry in listed if isinstance(entry, dict)]
    return [(str(entry.get("device_id", "")), str(entry.get("in_out", ""))) for entry in found]
