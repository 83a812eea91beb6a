"""Records of the log in the portal's local copy, as reading them would store them."""

import itertools
import json
from datetime import date, datetime, time, timedelta
from typing import Any

from django.utils import timezone

from portal.base.ui.times import TOKYO
from portal.domain.events import MirrorKind
from portal.domain.history.models import History
from portal.domain.history.records import HistoryColumns, insert_records
from portal.domain.places.models import Area
from portal.domain.sync.models import MirrorState
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tests.support.places import Place

_numbers = itertools.count(1)
_NOTHING: dict[str, Any] = {
    "status": "occur", "category": "normal", "content": "Entry", "member_id": "", "member_name": "", "member_type": "",
    "member_label": "", "member_attribute": "", "device_id": "", "device_name": "", "device_module": "",
}  # fmt: skip


def clock(text: str, day: date | None = None) -> datetime:
    """Return a time such as 09:41 on a day (today by default), on the service's clock."""
    return datetime.combine(day or timezone.now().astimezone(TOKYO).date(), time.fromisoformat(text), TOKYO)


def record(at: datetime, **said: Any) -> HistoryColumns:
    """Return a record with these values; by default it is an entry."""
    name = said.pop("history_id", f"h-{next(_numbers)}")
    units, extra = json.dumps(said.pop("units", [])), json.dumps(said.pop("extra", {}))
    return HistoryColumns(history_id=name, at=at, **{**_NOTHING, **said, "units": units, "extra": extra})


def happened(place: Place, *records: HistoryColumns) -> list[History]:
    """Store these records in the words of the place's service; return the rows in the same order."""
    with tenant_scope(place.tenant):
        insert_records([theirs(place.tenant, each) for each in records])
        known = {row.history_id: row for row in History.objects.filter(history_id__in=[r.history_id for r in records])}
    return [known[each.history_id] for each in records]


def theirs(tenant: Tenant, usual: HistoryColumns) -> HistoryColumns:
    """Return the record as the tenant's service would have written it."""
    words = tenant.environment.catalogue
    return usual._replace(
        content=words.states.service_word(usual.content),
        status=words.states.service_word(usual.status, "over"),
        category=words.records.service_category(usual.category),
    )


def loaded(place: Place, *, days: float = 30, ago: float = 0) -> None:
    """Mark the log as complete from so many days ago until so many seconds ago."""
    now = timezone.now()
    told = {"as_of": now - timedelta(seconds=ago), "memory": {"known_from": (now - timedelta(days=days)).isoformat()}}
    with tenant_scope(place.tenant):
        MirrorState.objects.update_or_create(kind=MirrorKind.HISTORIES, defaults=told)


def area(place: Place, name: str, **sides: str) -> Area:
    """Create an area with doors: `area(place, "Lab", D1="in", D2="out")`."""
    listed = [{"device_id": device_id, "in_out": side} for device_id, side in sides.items()]
    with tenant_scope(place.tenant):
        return Area.objects.create(area_id=f"a-{name}", area_name=name, devices_list=listed)


def keep(*rows: History) -> None:
    """Store these records of the tenant in scope."""
    names = [name for name in HistoryColumns._fields if name not in ("units", "extra")]
    told = [{name: getattr(row, name) for name in names} for row in rows]
    texts = [{"units": json.dumps(row.units), "extra": json.dumps(row.extra)} for row in rows]
    insert_records([HistoryColumns(**one, **two) for one, two in zip(told, texts, strict=True)])


def keep_one(**said: Any) -> None:
    """Store one record of the tenant in scope."""
    keep(History(**said))


def lists_read(place: Place) -> None:
    """Mark the lists that the overview needs as read just now."""
    with tenant_scope(place.tenant):
        for kind in (MirrorKind.MEMBERS, MirrorKind.GUESTS, MirrorKind.PASS_CONTROLLERS, MirrorKind.KEY_BOXES):
            MirrorState.objects.update_or_create(kind=kind, defaults={"as_of": timezone.now()})
