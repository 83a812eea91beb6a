"""Which areas doors lead to."""

from collections import defaultdict
from typing import NamedTuple

from portal.core.mirror.models import Area


class Place(NamedTuple):
    """An area that a door leads to; `side` is in_out as the service says it."""

    name: str
    side: str
    area_id: str


def places() -> dict[str, list[Place]]:
    """For each device_id, the areas it leads to."""
    found: dict[str, list[Place]] = defaultdict(list)
    for area in Area.objects.all():
        for entry in area.devices_list:
            if isinstance(entry, dict):
                place = Place(area.area_name, str(entry.get("in_out", "")), area.area_id)
                found[str(entry.get("device_id", ""))].append(place)
    return found
