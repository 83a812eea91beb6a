"""The areas, key boxes and keys that rights may name, from the mirror."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, JSONField, Value

from portal.domain.mirror.models import Area, KeyBox
from portal.domain.mirror.natural_sort import natural_key


@dataclass(frozen=True)
class BoxNames:
    """A key box: its name, and its keys' names by number in the order of numbers."""

    name: str
    units: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlaceNames:
    """Areas and key boxes by id, each in the order of names. Other places in rights are shown by their ids."""

    areas: Mapping[str, str] = field(default_factory=dict)
    boxes: Mapping[str, BoxNames] = field(default_factory=dict)

    def area_name(self, area_id: str) -> str:
        return self.areas.get(area_id) or area_id

    def box_name(self, key_device_id: str) -> str:
        found = self.boxes.get(key_device_id)
        return found.name if found else key_device_id

    def key_name(self, key_device_id: str, unit_no: str) -> str:
        """Return a key's name, empty if it has none."""
        found = self.boxes.get(key_device_id)
        return found.units.get(unit_no, "") if found else ""


def load_place_names() -> PlaceNames:
    """Return the places of the current tenant, with one query."""
    areas = _named(Area, "area_id", "area_name", Value(None, JSONField()))
    boxes = _named(KeyBox, "key_device_id", "key_device_name", F("units"))
    found = sorted(areas.union(boxes, all=True), key=lambda row: (natural_key(row[1]), row[0]))
    return PlaceNames(
        {id_: name or id_ for kind, name, id_, _ in found if kind == Area.__name__},
        {id_: BoxNames(name or id_, _units(units)) for kind, name, id_, units in found if kind == KeyBox.__name__},
    )


def _named(model: type[Area] | type[KeyBox], identifier: str, name: str, units: Any) -> Any:
    rows = model.objects.annotate(kind=Value(model.__name__), named=F(name), id_=F(identifier), holds=units)
    return rows.values_list("kind", "named", "id_", "holds")


def _units(listed: object) -> dict[str, str]:
    """Return numbers and names of a key box's array of units. Anything else in the array is ignored."""
    units = [unit for unit in listed if isinstance(unit, dict)] if isinstance(listed, list) else []
    named = {str(unit["unit_no"]): str(unit.get("unit_name") or "") for unit in units if unit.get("unit_no")}
    return dict(sorted(named.items(), key=lambda unit: natural_key(unit[0])))
