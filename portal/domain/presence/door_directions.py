"""The meaning of a passage of a door: the person is in the building, has left it, or nothing is certain."""

from collections.abc import Iterable
from dataclasses import dataclass

from portal.domain.mirror.door_areas import DoorDirection, directions_by_door, exit_doors
from portal.domain.mirror.models import Area


@dataclass(frozen=True)
class DoorDirections:
    """The directions of a tenant's doors.

    `areas_entered`: the areas that each door leads into. `exits`: doors by which people leave the building.
    `certain_entrances`: doors that lead in where leaving is recorded too, so that a person who did not leave is in. If
    the tenant has an outside area, only doors that lead there are exits, because other doors lead to the next room.
    Otherwise each way out of an area counts as an exit, as for guests.
    """

    areas_entered: dict[str, list[DoorDirection]]
    exits: frozenset[str]
    certain_entrances: frozenset[str]

    def area_of(self, device_id: str) -> str:
        """Return the name of the area that a door leads into; empty if there is none."""
        return next((lead.name for lead in self.areas_entered.get(device_id, ())), "")


def load_door_directions(areas: Iterable[Area] | None = None) -> DoorDirections:
    """Return the directions of the tenant's doors, from these areas or from all, loaded in one statement."""
    known = directions_by_door(areas)
    everywhere = {lead.area_id for found in known.values() for lead in found if lead.is_outside}
    outside = {device for device, found in known.items() if any(each.area_id in everywhere for each in found)}
    out = {device for device in exit_doors(known) if not everywhere or device in outside}
    left = {lead.area_id for device in out for lead in known[device]}
    into = {
        device: [each for each in found if each.is_inward and not each.is_outside] for device, found in known.items()
    }
    sure = {
        device
        for device, found in into.items()
        if found and device not in out and (outside & out or any(each.area_id in left for each in found))
        and not any(each.is_outside and not each.is_inward for each in known[device])
    }  # fmt: skip
    return DoorDirections(into, frozenset(out), frozenset(sure))
