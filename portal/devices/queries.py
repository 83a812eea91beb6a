"""Where doors are, and what was lately asked of them."""

from collections import defaultdict
from typing import NamedTuple

from portal.intents import queries as intents
from portal.intents.models import Intent
from portal.mirror.models import Area, PassController


def target_of(door: PassController) -> str:
    return f"pass_controller:{door.device_id}"


def latest_commands(door: PassController) -> list[Intent]:
    """The newest commands for this door, whoever gave them."""
    return list(intents.latest(target_of(door)).select_related("tenant")[:5])


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
