"""Queries for areas, doors, key boxes and the tenant's record, and where doors lead."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from accessapi.overrides import States
from accessapi.permissions import Holidays
from accessapi.resources.tenants import HolidaySettings
from portal.base.ui.url_lookup import RowLookup
from portal.domain.places.models import Area, KeyBox, PassController, TenantRecord
from tenants.models import current_tenant

# Look-ups for the identifiers in URLs.
_areas = RowLookup(Area.objects.all, area_id="")
_doors = RowLookup(PassController.objects.all, device_id="")


def areas() -> QuerySet[Area]:
    return Area.objects.order_by("name_order", "pk")


def key_boxes() -> QuerySet[KeyBox]:
    return KeyBox.objects.order_by("name_order", "pk")


def load_tenant_record() -> TenantRecord | None:
    """Return the service's record of the entered tenant; None before the first reading."""
    return TenantRecord.objects.first()


def load_holidays() -> Holidays:
    """Return the entered tenant's holidays as of `load_tenant_record().read_at`; none before the first reading."""
    record = load_tenant_record()
    rules = current_tenant().environment.catalogue.rules
    settings = HolidaySettings.model_validate(record.holiday) if record else None
    return Holidays.from_settings(settings, weekdays_apply=rules.weekdays_on_holidays)


def get_area(area_id: str) -> Area:
    return _areas.get_or_404(area_id=area_id)


def get_door(device_id: str) -> PassController:
    return _doors.get_or_404(device_id=device_id)


class DoorArea(NamedTuple):
    """An area that a door leads to; `side` is in or out, or the service's own word for neither."""

    name: str
    side: str
    area_id: str


class DoorDirection(NamedTuple):
    """The direction of a door in one of its areas.

    `is_inward`: the door leads into the area, or out of an outside area. `is_outward`: it leads out of the area, or
    into an outside area. Both are False when the service names no known side, so that no one counts as having left by
    such a door.
    """

    name: str
    area_id: str
    is_outside: bool
    is_inward: bool
    is_outward: bool


def areas_by_door() -> dict[str, list[DoorArea]]:
    """Return the areas that each door leads to, by device_id."""
    states, found = service_states(), defaultdict[str, list[DoorArea]](list)
    for area in Area.objects.all():
        for device_id, side in doors_of_area(area, states):
            found[device_id].append(DoorArea(area.area_name, side, area.area_id))
    return found


def areas_for_directions() -> QuerySet[Area]:
    """Return the areas with the columns that show the direction of their doors."""
    return Area.objects.only("tenant_id", "area_id", "area_name", "is_outside", "devices_list").order_by("pk")


def directions_by_door(areas: Iterable[Area] | None = None) -> dict[str, list[DoorDirection]]:
    """Return the directions of each door, by device_id, in `areas` or in all areas (read in one query)."""
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
    """Return the doors that lead only outward: people surely leave by them and enter no area."""
    return {device_id for device_id, found in known.items() if all(lead.is_outward for lead in found)}


def doors_of_area(area: Area, states: States) -> list[tuple[str, str]]:
    """Return (device_id, side) of an area's doors, without malformed entries; the side is as in `DoorArea`."""
    listed = area.devices_list if isinstance(area.devices_list, list) else []
    found = [entry for entry in listed if isinstance(entry, dict)]
    sides = ["" if entry.get("in_out") is None else str(entry["in_out"]) for entry in found]
    return [
        (str(entry.get("device_id", "")), states.direction(side) or side)
        for entry, side in zip(found, sides, strict=True)
    ]


def service_states() -> States:
    """Return the state words that the entered tenant's service uses."""
    states: States = current_tenant().environment.catalogue.states
    return states


def use_categories() -> list[str]:
    """Return the entered tenant's log categories for a person who used a door or a key."""
    return list(current_tenant().environment.catalogue.records.used)
