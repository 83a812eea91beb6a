"""Visits for the desk's tests: rows of the portal, and records as they are loaded from the service."""

import itertools
import re
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from portal.base.ui.times import TOKYO
from portal.domain import events
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.people.text_folding import fold
from portal.domain.places.models import Area
from portal.domain.visits.models import Stage, Visit
from tenants.scope import tenant_scope
from tests.support.members import tight
from tests.support.places import Place

_numbers = itertools.count(1)


def noon() -> datetime:
    """Return noon of today on the service's clock: far from midnight on both sides."""
    return timezone.now().astimezone(TOKYO).replace(hour=12, minute=0, second=0, microsecond=0)


def visit(place: Place, name: str = "", *, start: float = -1, hours: float = 2, **values: Any) -> Visit:
    """Create a visit that begins `start` hours from now and lasts `hours`."""
    number = next(_numbers)
    name = name or f"ゲスト {number}"
    begin = timezone.now() + timedelta(hours=start)
    issued = values.get("stage", Stage.ISSUED) == Stage.ISSUED
    made = {
        "stage": Stage.ISSUED, "guest_id": f"g{number:05d}" if issued else None, "guest_name": name,
        "name_key": fold(name), "use_date_start": begin, "use_date_end": begin + timedelta(hours=hours),
        "host_key": fold(str(values.get("host_name", ""))),
    }  # fmt: skip
    with tenant_scope(place.tenant):
        return Visit.objects.create(**(made | values))


def used(place: Place, who: Visit, at: datetime, *, door: str = "正面入口", category: str = "normal") -> None:
    """Load a record that the guest's code was used at a door."""
    with tenant_scope(place.tenant):
        row = History.objects.create(
            history_id=f"h{next(_numbers)}", at=at, status="occur", category=category, content="Entry",
            member_id=who.guest_id, member_name=who.guest_name, device_id=f"id of {door}", device_name=door,
        )  # fmt: skip
        events.publish(MirrorKind.HISTORIES, place.tenant, histories=[row])


def way_out(place: Place, door: str) -> None:
    with tenant_scope(place.tenant):
        Area.objects.create(
            area_id=f"a{next(_numbers)}", area_name="1F", devices_list=[{"device_id": f"id of {door}", "in_out": "out"}]
        )


def again(place: Place, who: Visit) -> Visit:
    with tenant_scope(place.tenant):
        return Visit.objects.get(pk=who.pk)


def counts(html: str) -> dict[str, int]:
    """Return the counts on the board by name."""
    found = re.findall(r'id="count-([a-z_]+)"[^>]*>(?:<svg.*?</svg>)?<b>(\d+)</b>', tight(html), re.DOTALL)
    return {name: int(number) for name, number in found}


def names(html: str) -> list[str]:
    """Return the names on the board, in its order."""
    return re.findall(r"data-open>([^<]*)</a>", tight(html))
