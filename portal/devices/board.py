"""The board of all doors, as a page with a tile for each door and as a view for wall screens.

It is drawn from stored data without calls to the service. Its version mark covers everything that a tile shows. On a
wall screen, doors that need attention are large, others small, and old data are marked.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise, cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.base.ui import live_updates
from portal.base.ui.chips import Chip
from portal.base.ui.tables import EmptyState
from portal.base.ui.tables.columns import ListPreferences
from portal.base.ui.tables.filters import ListAddress
from portal.base.ui.url_lookup import url_in_tenant
from portal.base.ui.value_words import join_values
from portal.devices import queries
from portal.domain.events import MirrorKind
from portal.domain.history import search, visibility
from portal.domain.history.models import History
from portal.domain.places import door_states
from portal.domain.places.models import DoorState, PassController, natural_key
from portal.domain.places.queries import DoorArea, areas_by_door
from portal.domain.sync import freshness
from tenants.access import TenantRequest

VIEWS: Mapping[str, tuple[str | Promise, str]] = {
    "board": (gettext_lazy("Board"), "layout-dashboard"),
    "list": (gettext_lazy("List"), "list-check"),
}
_NO_AREA = ""


def chosen_view(request: TenantRequest) -> str:
    """Return the chosen view of the doors: from the address, otherwise this person's last choice."""
    view = request.GET.get("view", "")
    if view in VIEWS:
        return view
    saved = ListPreferences.load(request, "doors:view").columns
    return next((each for each in VIEWS if each in saved), "board")


@dataclass(frozen=True)
class DoorTile:
    """A door on the board: its area, and in `other_areas` the names of the other areas that it leads to."""

    door: PassController
    chip: Chip
    href: str
    area: str
    other_areas: str
    latest_record: History | None

    @property
    def is_named_after_area(self) -> bool:
        """Check whether the door's name begins with its area, so that the area would be repeated."""
        return bool(self.area) and str(self.door).startswith(self.area)


@dataclass(frozen=True)
class TileGroup:
    """The tiles of an area, or of several areas with one door each (`is_shared`), which share rows.

    The name is empty for doors without an area.
    """

    name: str
    tiles: list[DoorTile]
    is_shared: bool = False

    @property
    def width(self) -> str:
        """Return how many columns it takes: as many as it has tiles, or the whole row."""
        return "row" if self.is_shared else str(len(self.tiles))


class DoorBoard:
    """The doors that the person has access to, filtered by the address."""

    def __init__(self, request: TenantRequest) -> None:
        self.request = request
        self.address = ListAddress(request.path, request.GET)

    @cached_property
    def version(self) -> str:
        """Return the version mark of the board. It changes with news of doors, areas or the log."""
        access = self.request.access
        newest = search.newest_record_key() if visibility.may_view_log(access) else None
        areas = freshness.freshness_for(self.request)[MirrorKind.AREAS].as_of
        return live_updates.version_of(queries.version_of_doors(), newest, visibility.visible_since(access), areas)

    @cached_property
    def doors(self) -> list[PassController]:
        return list(queries.by_urgency().defer("extra", "events"))

    @cached_property
    def places(self) -> dict[str, list[DoorArea]]:
        return {
            each: sorted(found, key=lambda place: (natural_key(place.name), place.area_id))
            for each, found in areas_by_door().items()
        }

    @cached_property
    def latest_records(self) -> dict[str, History]:
        return queries.latest_records(self.request.access)

    # Summary

    @property
    def as_of(self) -> datetime | None:
        """Return how old the states are at most; an older state has its own time."""
        return queries.oldest_usual(self.doors)

    @property
    def headline(self) -> str:
        """Return how many of all doors need attention."""
        attention_count, of_all = sum(door.attention for door in self.doors), len(self.doors)
        if not attention_count:
            return ngettext("%(all)d door, none needs attention", "%(all)d doors, none needs attention", of_all) % {
                "all": of_all
            }
        text = ngettext("%(n)d of %(all)d needs attention", "%(n)d of %(all)d need attention", attention_count)
        return text % {"n": attention_count, "all": of_all}

    @property
    def unknown_text(self) -> str:
        """Return the number of doors with an unknown state, by cause; empty if all states are known."""
        counted = Counter(map(_unknown_reason, self.doors))
        texts = (
            ngettext("%(n)d not loaded", "%(n)d not loaded", counted["unread"]) % {"n": counted["unread"]},
            ngettext("%(n)d unknown", "%(n)d unknown", counted["unknown"]) % {"n": counted["unknown"]},
            ngettext("%(n)d offline", "%(n)d offline", counted["offline"]) % {"n": counted["offline"]},
        )
        return join_values(
            words for words, name in zip(texts, ("unread", "unknown", "offline"), strict=True) if counted[name]
        )

    @property
    def headline_class(self) -> str:
        """Return the headline's CSS class, taken from the most serious door."""
        states = {door.state for door in self.doors}
        if states.intersection(door_states.LOUD_STATES):
            return "alarm"
        return "loud" if any(door.attention for door in self.doors) else "quiet"

    # Content

    @property
    def groups(self) -> list[TileGroup]:
        """Return the tiles by area. Doors that need attention are first within each area.

        Areas with such doors come first, the most serious one on top. The others follow by name, and doors without an
        area are last. Areas with one door are one group, in this order, with and without such doors.
        """
        found: dict[tuple[bool, str, str, str], list[DoorTile]] = {}
        for door in filter(self._matches, self.doors):
            first = next(iter(self._shown_places(door)), None)
            key = (False, natural_key(first.name), first.area_id, first.name) if first else (True, "", "", "")
            found.setdefault(key, []).append(self._tile(door, first))
        place = {key: number for number, key in enumerate(found)}  # the doors are sorted by urgency

        def rank(each: tuple[tuple[bool, str, str, str], list[DoorTile]]) -> tuple[Any, ...]:
            key, tiles = each
            return (0, place[key]) if tiles[0].door.attention else (1, 0, *key)

        groups, shared = list[TileGroup](), dict[bool, TileGroup]()
        for key, tiles in sorted(found.items(), key=rank):
            needs_attention = tiles[0].door.attention
            if len(tiles) > 1:
                groups.append(TileGroup(key[-1], tiles))
            elif needs_attention in shared:
                shared[needs_attention].tiles.extend(tiles)
            else:
                groups.append(shared.setdefault(needs_attention, TileGroup("", tiles, is_shared=True)))
        return groups

    @property
    def empty(self) -> EmptyState | None:
        """Return why there are no doors; None if there are some."""
        return None if self.doors else queries.empty_state(self.request)

    def _matches(self, door: PassController) -> bool:
        is_in_area = self.area is None or any(
            place.area_id == self.area for place in self.places.get(door.device_id, ())
        )
        if self.area == _NO_AREA:
            is_in_area = door.device_id not in self.places
        return is_in_area and (door.attention or not self.only_attention)

    def _shown_places(self, door: PassController) -> list[DoorArea]:
        """Return a door's areas, beginning with the area that the board is filtered by."""
        return sorted(self.places.get(door.device_id, ()), key=lambda place: place.area_id != self.area)

    def _tile(self, door: PassController, first: DoorArea | None) -> DoorTile:
        also = [each.name for each in self._shown_places(door) if first is None or each.area_id != first.area_id]
        return DoorTile(
            door,
            queries.state_of(door, self.request.tenant.environment.catalogue.states),
            url_in_tenant("devices:door", self.request.tenant.slug, door.device_id),
            first.name if first is not None else "",
            join_values(dict.fromkeys(also)),
            self.latest_records.get(door.device_id),
        )

    # Filters from the address

    @property
    def only_attention(self) -> bool:
        return self.address.get("only") == "attention"

    @property
    def area(self) -> str | None:
        """Return the requested area: "" for doors without an area, None for all."""
        chosen = self.chosen_area
        return (_NO_AREA if chosen == "none" else chosen) if chosen else None

    @property
    def chosen_area(self) -> str:
        """Return the area's value in the filter; "" for all areas."""
        return self.address.get("area")

    @property
    def is_filtered(self) -> bool:
        return self.only_attention or self.area is not None

    @property
    def poll_url(self) -> str:
        return self.address.with_(view="board")

    @property
    def area_choices(self) -> list[tuple[str, str]]:
        """Return (value, name) for each area with doors, and for all; empty if there are fewer than two areas."""
        areas = {(place.name, place.area_id) for door in self.doors for place in self.places.get(door.device_id, ())}
        by_name = sorted(areas, key=lambda place: (natural_key(place[0]), place[1]))
        choices = [("", _("All areas")), *((area_id, name) for name, area_id in by_name)]
        if any(door.device_id not in self.places for door in self.doors):
            choices.append(("none", _("Not in an area")))
        return choices if len(choices) > 2 else []


def _unknown_reason(door: PassController) -> str:
    if door.state == DoorState.OFFLINE:
        return "offline"
    if door.state != DoorState.UNKNOWN:
        return ""
    return "unknown" if door.status_as_of else "unread"


def view_links(request: TenantRequest, chosen: str) -> Iterable[dict[str, Any]]:
    """Return the views of the doors, each with its label, address and whether it is selected."""
    return [
        {"name": name, "label": label, "icon": icon, "here": name == chosen, "href": f"{request.path}?view={name}"}
        for name, (label, icon) in VIEWS.items()
    ]


# The room of a 1920 by 1080 screen, counted in small tiles; the room of a large tile; the most large tiles.
WALL_ROOM, URGENT_SPACE, MAX_URGENT = 102, 12, 8


class DoorWall(DoorBoard):
    """The tenant's doors that fit on one screen. Doors without problems are left out first."""

    @cached_property
    def urgent_tiles(self) -> list[DoorTile]:
        return [self._tile(door, None) for door in self._urgent_doors[:MAX_URGENT]]

    @cached_property
    def other_tiles(self) -> list[DoorTile]:
        """Return the doors with small tiles: those without problems, and urgent ones beyond MAX_URGENT."""
        others = self._urgent_doors[MAX_URGENT:] + [door for door in self.doors if not door.attention]
        return [self._tile(door, None) for door in others[: max(WALL_ROOM - URGENT_SPACE * len(self.urgent_tiles), 0)]]

    @property
    def hidden_count(self) -> int:
        """Return the number of doors that do not fit."""
        return len(self.doors) - len(self.urgent_tiles) - len(self.other_tiles)

    @cached_property
    def _urgent_doors(self) -> list[PassController]:
        return [door for door in self.doors if door.attention]
