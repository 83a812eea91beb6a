"""What the pages of areas ask the mirror and the audit trail."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max, Min, OuterRef, Subquery

from portal.core.intents.models import target_of
from portal.core.mirror import queries as mirror
from portal.core.mirror.models import Area, History, Member, PassController
from portal.core.rights import words
from tenants.models import AuditEntry

LATELY = 8
CHANGES = 10


@dataclass(frozen=True)
class Door:
    """A pass controller of an area. `side` is in_out as the service says it; `door` None: not in the list of doors."""

    device_id: str
    side: str
    door: PassController | None

    def __str__(self) -> str:
        return str(self.door) if self.door else self.device_id


@dataclass(frozen=True)
class Span:
    """Between when and when the rights that are known were read."""

    oldest: datetime | None
    newest: datetime | None


def doors_of(areas: Iterable[Area], known: dict[str, PassController]) -> dict[str, list[Door]]:
    """The doors of each area by area_id, in the service's order."""
    found = {}
    for area in areas:
        entries = [entry for entry in area.devices_list if isinstance(entry, dict)]
        ids = [(str(entry.get("device_id", "")), str(entry.get("in_out") or "")) for entry in entries]
        found[area.area_id] = [Door(device_id, side, known.get(device_id)) for device_id, side in ids]
    return found


def controllers() -> dict[str, PassController]:
    """Every door by device_id, with when its latest record was made (`last_at`): one short look at an index each."""
    log = History.objects.filter(device_id=OuterRef("device_id")).exclude(device_id="").order_by("-at", "-pk")
    doors = PassController.objects.annotate(last_at=Subquery(log.values("at")[:1]))
    return {door.device_id: door for door in doors}


def controllers_of(area: Area) -> list[Door]:
    ids = [str(entry.get("device_id", "")) for entry in area.devices_list if isinstance(entry, dict)]
    known = {door.device_id: door for door in PassController.objects.filter(device_id__in=ids)}
    return doors_of([area], known)[area.area_id]


def entered_lately(doors: Iterable[Door]) -> list[History]:
    """The latest records of an area's doors, newest first."""
    ids = [door.device_id for door in doors if door.device_id]
    return list(mirror.histories_at(ids)[:LATELY]) if ids else []


def rights_read() -> Span:
    """As of when members' rights are known: the oldest and the newest reading, each at one end of an index."""
    read = Member.objects.filter(rights_read_at__isnull=False)
    return Span(**read.aggregate(oldest=Min("rights_read_at"), newest=Max("rights_read_at")))


@dataclass(frozen=True)
class Change:
    """What staff did to an area's access, with the hours that were given, in words."""

    entry: AuditEntry
    when: str


def staff_changes(area: Area) -> list[Change]:
    """What staff did to the area's access, newest first."""
    rows = AuditEntry.objects.filter(target=target_of("area", area.area_id)).select_related("by", "support_session")
    entries = list(rows.order_by("-at", "-pk")[:CHANGES])
    # Entries from before kept the words of whoever wrote them.
    return [Change(entry, ((kept := entry.after or {}) | in_words(kept)).get("when", "")) for entry in entries]


def in_words(kept: Mapping[str, Any]) -> dict[str, str]:
    """What the trail kept of an edit in the reader's words."""
    return {"when": words.when(kept["pass"])} if "pass" in kept else {}
