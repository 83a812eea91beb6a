"""Which areas doors lead to, and which way."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from accessapi.overrides import States
from portal.core.mirror.models import Area
from tenants.models import current_tenant


class DoorArea(NamedTuple):
    """An area that a door leads to; `side` is in or out, or the service's own word for neither."""

    name: str
    side: str
    area_id: str


class DoorDirection(NamedTuple):
    """Where a door stands in an area. `is_inward`: whoever passes is then inside; the way into an area outside is not.
    `is_outward`: whoever passes is then outside of it. Neither where the service does not say the side,
    or in an unknown
    word: by such a door nobody is taken to have left.
    """

    name: str
    area_id: str
    is_outside: bool
    is_inward: bool
    is_outward: bool


def areas_by_door() -> dict[str, list[DoorArea]]:
    """For each device_id, the areas it leads to."""
    states, found = service_states(), defaultdict[str, list[DoorArea]](list)
    for area in Area.objects.all():
        for device_id, side in doors_of_area(area, states):
            found[device_id].append(DoorArea(area.area_name, side, area.area_id))
    return found


def areas_for_directions() -> QuerySet[Area]:
    """The areas with what tells which way their doors lead."""
    return Area.objects.only("tenant_id", "area_id", "area_name", "is_outside", "devices_list").order_by("pk")


def directions_by_door(areas: Iterable[Area] | None = None) -> dict[str, list[DoorDirection]]:
    """For each device_id, which way it leads in its areas: in these, or in those there are, read in one statement."""
    states, found = service_states(), defaultdict[str, list[DoorDirection]](list)
    for area in areas_for_directions() if areas is None else areas:
        outside = bool(area.is_outside)
        inside, beyond = ("out", "in") if outside else ("in", "out")
        for device_id, side in doors_of_area(area, states):
            lead = DoorDirection(
                area.area_name, area.area_id, outside, is_inward=side == inside, is_outward=side == beyond
            )
            found[device_id].append(lead)
    return found


def exit_doors(known: Mapping[str, Sequence[DoorDirection]]) -> set[str]:
    """Return the doors by which people surely leave an area, or step outside, and enter none."""
    return {device_id for device_id, found in known.items() if all(lead.is_outward for lead in found)}


def doors_of_area(area: Area, states: States) -> list[tuple[str, str]]:
    """(device_id, side) of an area's doors, as far as the service's list is one; the side as in `DoorArea`."""
    listed = area.devices_list if isinstance(area.devices_list, list) else []
    found = [entry for entry in listed if isinstance(entry, dict)]
    sides = ["" if entry.get("in_out") is None else str(entry["in_out"]) for entry in found]
    return [
        (str(entry.get("device_id", "")), states.direction(side) or side)
        for entry, side in zip(found, sides, strict=True)
    ]


def service_states() -> States:
    """Return the words of the entered tenant's service."""
    states: States = current_tenant().environment.catalogue.states
    return states


def use_categories() -> list[str]:
    """Return the categories of which the entered tenant's service says that a person used a door or a key."""
    return list(current_tenant().environment.catalogue.records.used)
