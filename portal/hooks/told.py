"""What a notification says, in the columns of `Notification` and of the log. Whatever it says, none raises.

Its body is published, not specified, and an overrides file may say that it looks otherwise: a hint. One that cannot be
read is a hint all the same, found again by its digest.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import ValidationError

from accessapi.notifications import Webhook
from accessapi.reading import read_json
from accessapi.resources import histories
from portal.core.mirror.rows import Record, public, records
from portal.hooks.models import Notification

# What a record has in its device, and what says nothing of the record.
_OF_A_DEVICE = {"device_id": "id", "device_name": "name", "device_module": "module"}
# What the history_id of a notification begins with that names no record.
UNNAMED = "sha256 "
_OF_THE_MESSAGE = ("tenant_id", "event", "event_name", "additional_info")


class Told(NamedTuple):
    """A notification that was read. `body` is {} where it names no record."""

    history_id: str
    at: datetime | None
    body: dict[str, Any]


def read(raw: bytes, shape: Webhook) -> Told:
    """Read a notification's body, of a service that shapes it like this."""
    try:
        body = public(shape.published(read_json(raw)))
        said = histories.Notification.model_validate(body)
    except ValueError:  # among them every fault of JSON, of text and of pydantic
        return _unnamed(raw)
    return Told(said.history_id, said.datetime, body)


def _unnamed(raw: bytes) -> Told:
    return Told(f"{UNNAMED}{hashlib.sha256(raw).hexdigest()}", None, {})


def record_of(notification: Notification) -> Record | None:
    """What a notification says as a record of the log, marked as such; None when it names none."""
    item = _as_record(notification.body)
    try:
        read = histories.History.model_validate(item)
    except ValidationError:
        return None
    found = records([read], [item], notification.received_at)
    return found[0]._replace(notified=True) if found else None


def _as_record(body: Mapping[str, Any]) -> dict[str, Any]:
    """A notification in the shape of a log record; what the published description does not name stays as it came."""
    info = body.get("additional_info")
    more = dict(info) if isinstance(info, dict) else {}
    device = {name: body[told] for told, name in _OF_A_DEVICE.items() if body.get(told)}
    member, units = more.pop("member", None), more.pop("units", None)
    item = {name: value for name, value in body.items() if name not in (*_OF_THE_MESSAGE, *_OF_A_DEVICE)}
    item |= {"_content": body.get("event_name")} if body.get("event_name") else {}
    item |= {"member": member} if isinstance(member, dict) else {}
    item |= {"device": device | ({"units": units} if isinstance(units, list) else {})} if device else {}
    return item | ({"additional_info": more} if more else {})
