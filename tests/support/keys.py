"""Key boxes of a place in the portal's local copy, and states of their keys from readings and the log."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from portal.base.timers.clock import database_now
from portal.domain.places import key_states
from portal.domain.places.models import Key, KeyBox
from tenants.scope import tenant_scope
from tests.support.log import happened, record
from tests.support.places import Place

NAMES = ("正面玄関 予備", "社用車", "倉庫")


def key_box(place: Place, key_device_id: str = "K1", name: str = "総務キーボックス", size: int = 3) -> KeyBox:
    """Create a key box with keys 01, 02, …, as reading the list would."""
    units = [
        {"unit_no": f"{number + 1:02d}", "unit_name": NAMES[number % len(NAMES)], "restriction": False}
        for number in range(size)
    ]
    with tenant_scope(place.tenant), transaction.atomic():
        box = KeyBox.objects.create(key_device_id=key_device_id, key_device_name=name, units=units)
        key_states.on_key_boxes(place.tenant)
    return box


def reads(
    place: Place, key_device_id: str = "K1", *, ago: float = 0, line: str = "connected",
    errors: dict[str, list[str]] | None = None, **units: Any,
) -> None:  # fmt: skip
    """Store a reading of keys from so many seconds ago: `reads(place, u01="taken")`; `errors` by key number."""
    theirs, wrong = place.tenant.environment.catalogue.states.service_word, errors or {}
    status = {
        "cloud_com_status": theirs(line, "connected"),
        "units_status": [
            {
                "unit_no": name[1:],
                "key": theirs(word, "key_in", "key_out", "key_wrong"),
                "lock": theirs("lock", "locked"),
                "errors": [theirs(each) for each in wrong.get(name[1:], [])],
            }
            for name, word in units.items()
        ],
    }
    with tenant_scope(place.tenant):
        key_states.apply_reading(place.tenant, key_device_id, status, database_now() - timedelta(seconds=ago))


def tells(
    place: Place, unit: str, content: str, at: datetime, *, who: str = "m-1", name: str = "佐藤 花子", box: str = "K1",
    history_id: str = "", **more: Any,
) -> None:  # fmt: skip
    """Store a log record of a key, as reading the log would."""
    more |= {"history_id": history_id} if history_id else {}
    units = [{"unit_no": unit, "unit_name": ""}]
    said = record(at, content=content, device_id=box, units=units, member_id=who, member_name=name, **more)
    rows = happened(place, said)
    with tenant_scope(place.tenant), transaction.atomic():
        key_states.on_histories(place.tenant, histories=rows)


def key(place: Place, unit: str = "01", box: str = "K1") -> Key:
    with tenant_scope(place.tenant):
        return Key.objects.get(key_box__key_device_id=box, unit_no=unit)
