"""Show which doors a lockdown would lock, how many API calls it uses, and possible problems, before it starts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from accessapi.operations import CallClass
from portal.devices import actions as devices
from portal.devices import queries
from portal.domain.budget import ledger
from portal.domain.budget.gauges import GaugeReading
from portal.domain.budget.priorities import Priority, reserved_above
from portal.domain.intents.nonces import NotSubmitted
from portal.domain.places.models import Area, DoorState, PassController
from portal.domain.places.queries import areas_by_door
from portal.lockdown.models import Forecast, Scope
from tenants.connections.service_clients import current_connection
from tenants.models import Connection


@dataclass(frozen=True)
class DoorSelection:
    """The chosen doors: all doors, those of an area, or selected ones."""

    scope: Scope
    area_id: str = ""
    chosen: tuple[str, ...] = ()

    @classmethod
    def from_query(cls, query: QueryDict) -> "DoorSelection":
        """Return the selection of a form or address. Raises NotSubmitted for an unknown scope."""
        scope = str(query.get("scope", ""))
        if scope not in Scope.values:
            raise NotSubmitted(_("Nothing was sent. Choose which doors to lock."))
        return cls(Scope(scope), query.get("area", ""), tuple(query.getlist("door")))

    @property
    def area_name(self) -> str:
        """Return the name of the chosen area; empty for other scopes."""
        if self.scope is not Scope.AREA:
            return ""
        return next((area.area_name for area in Area.objects.all() if area.area_id == self.area_id), "")

    def doors(self) -> list[PassController]:
        """Return the chosen doors that exist, those that are not locked first."""
        every = list(queries.by_urgency().defer("extra", "events"))
        if self.scope is Scope.ALL:
            return every
        if self.scope is Scope.AREA:
            where = areas_by_door()
            return [door for door in every if any(p.area_id == self.area_id for p in where.get(door.device_id, ()))]
        return [door for door in every if door.device_id in self.chosen]


@dataclass(frozen=True)
class LockdownPreview:
    """The API calls that locking these doors uses: one device API call for each door."""

    doors: list[PassController]
    connection: Connection

    @classmethod
    def of(cls, doors: list[PassController]) -> "LockdownPreview":
        return cls(doors, current_connection())

    @property
    def blocked_reason(self) -> str:
        return devices.why_unavailable(self.connection)

    @cached_property
    def _reading(self) -> GaugeReading:
        return ledger.read_gauges(self.connection)[CallClass.DEVICE]

    @property
    def calls_needed(self) -> int:
        return len(self.doors)

    @property
    def calls_left(self) -> int:
        """Return how many device API calls commands for doors can use now."""
        return max(self._reading.limit - self._reading.used, 0)

    @property
    def calls_reserved(self) -> int:
        """Return how many of the hour's calls are reserved for commands for doors."""
        return reserved_above(Priority.PEOPLE, self._reading.limit)

    @property
    def calls_now(self) -> int:
        return min(self.calls_left, self.calls_needed)

    @property
    def calls_later(self) -> int:
        return self.calls_needed - self.calls_now

    @property
    def resumes_at(self) -> datetime:
        """Return when the first call becomes available again, for the doors that have to wait."""
        return self._reading.refills_at() or self._reading.now

    @property
    def offline(self) -> list[PassController]:
        return [door for door in self.doors if door.state == DoorState.OFFLINE]

    @property
    def unknown(self) -> list[PassController]:
        return [door for door in self.doors if (door.state or DoorState.UNKNOWN) == DoorState.UNKNOWN]

    @property
    def held(self) -> list[PassController]:
        return [door for door in self.doors if queries.is_held(door)]

    def forecasts(self) -> list[tuple[PassController, Forecast | None]]:
        """Return the doors, each with the expected problem or None."""
        return [(door, self._forecast(place, door)) for place, door in enumerate(self.doors)]

    def _forecast(self, place: int, door: PassController) -> Forecast | None:
        if place >= self.calls_left:
            return Forecast.CALLS
        if door.state == DoorState.OFFLINE:
            return Forecast.OFFLINE
        return Forecast.UNKNOWN if door in self.unknown else None


def form_choices(selection: DoorSelection | None) -> dict[str, Any]:
    """Return the form's choices and the chosen values."""
    chosen = selection or DoorSelection(Scope.ALL)
    return {
        "scopes": Scope,
        "selection": chosen,
        "areas": list(Area.objects.order_by("name_order", "pk").values_list("area_id", "area_name")),
        "doors": list(
            PassController.objects.order_by("name_order", "pk").only("tenant_id", "device_id", "device_name")
        ),
    }
