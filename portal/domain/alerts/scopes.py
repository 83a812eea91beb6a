"""Where an alert rule applies: at chosen doors and the doors of chosen areas, or everywhere."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from django.utils.translation import pgettext

from portal.base.ui.value_words import join_values
from portal.domain.places.models import Area, PassController


@dataclass(frozen=True)
class Scope:
    """Areas and doors by their IDs; everywhere without any. `area_doors` are the doors of the areas now."""

    areas: tuple[str, ...] = ()
    doors: tuple[str, ...] = ()
    area_doors: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def is_everywhere(self) -> bool:
        return not self.areas and not self.doors

    @property
    def device_ids(self) -> list[str] | None:
        """Return the doors; None for everywhere."""
        return None if self.is_everywhere else sorted(self.area_doors.union(self.doors))

    def covers(self, device_id: str) -> bool:
        return self.is_everywhere or device_id in self.area_doors or device_id in self.doors

    def is_narrower(self, other: "Scope") -> bool:
        """Return True if the other scope has an area or door that this one lacks."""
        if self.is_everywhere:
            return False
        return other.is_everywhere or bool({*other.areas} - {*self.areas} or {*other.doors} - {*self.doors})


EVERYWHERE = Scope()


def load_scopes(chosen: Collection[tuple[Iterable[str], Iterable[str]]]) -> list[Scope]:
    """Return scopes for pairs of area IDs and door IDs, with the areas' doors loaded together."""
    pairs = [(tuple(areas), tuple(doors)) for areas, doors in chosen]
    listed = _doors_by_area({area for areas, _doors in pairs for area in areas})
    return [
        Scope(areas, doors, frozenset(door for area in areas for door in listed.get(area, ())))
        for areas, doors in pairs
    ]


def _doors_by_area(area_ids: Collection[str]) -> Mapping[str, list[str]]:
    if not area_ids:
        return {}
    rows = Area.objects.filter(area_id__in=area_ids).only("area_id", "devices_list")
    return {row.area_id: [str(each.get("device_id", "")) for each in row.devices_list] for row in rows}


def describe_scopes(scopes: Collection[Scope]) -> list[str]:
    """Return the names of each scope's areas and doors, loaded together."""
    areas = {each for scope in scopes for each in scope.areas}
    doors = {each for scope in scopes for each in scope.doors}
    named = {row.area_id: str(row) for row in Area.objects.filter(area_id__in=areas)} if areas else {}
    named |= {row.device_id: str(row) for row in PassController.objects.filter(device_id__in=doors)} if doors else {}
    everywhere = pgettext("alert rule", "Everywhere")
    return [
        everywhere if scope.is_everywhere else join_values(named.get(each, each) for each in scope.areas + scope.doors)
        for scope in scopes
    ]
