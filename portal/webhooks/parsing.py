"""What a notification says, in the columns of `WebhookMessage` and of the log. Whatever it says, none raises.

Its body is published, not specified, and an overrides file may say that it looks otherwise: a hint. One that cannot be
read is a hint all the same, found again by its digest.
"""

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from pydantic import ValidationError

from accessapi.reading import read_json
from accessapi.resources import histories
from accessapi.webhook_format import WebhookFormat
from portal.core.mirror.row_building import HistoryColumns, build_records, remove_secrets
from portal.webhooks.models import Notification

# What a record has in its device, and what says nothing of the record.
_DEVICE_FIELDS = {"device_id": "id", "device_name": "name", "device_module": "module"}
# What the history_id of a notification begins with that names no record.
UNNAMED_PREFIX = "sha256 "
_MESSAGE_FIELDS = ("tenant_id", "event", "event_name", "additional_info")


# So many records of one notification are looked at, and so many bytes of one that was packed.
MAX_RECORDS, MAX_UNPACKED_BYTES = 1_000, 1024 * 1024
_PACKED = b"\x1f\x8b"
# What a body is read as that is in none of the encodings of JSON.
_OTHER_ENCODING = "cp932"


class ParsedRecord(NamedTuple):
    """A record of a notification that was read. `body` is {} where it names none."""

    history_id: str
    at: datetime | None
    body: dict[str, Any]


def parse(raw: bytes, shape: WebhookFormat) -> Iterator[ParsedRecord]:
    """Yield what a notification's body tells, of a service that shapes it like this: a record, or several.

    What names no record is told once, whatever else is beside it.
    """
    is_whole, found = True, 0
    try:
        for body in islice(shape.read_records(read_json(_decoded(raw))), MAX_RECORDS + 1):
            found += 1
            told = _parse_record(remove_secrets(body)) if found <= MAX_RECORDS else None
            is_whole &= told is not None
            if told is not None:
                yield told
    except (ValueError, zlib.error):  # among them every fault of JSON and of text
        is_whole = False
    if not is_whole or not found:
        yield _without_record(raw)


def _parse_record(body: Any) -> ParsedRecord | None:
    try:
        said = histories.WebhookMessage.model_validate(body)
    except ValueError:
        return None
    return ParsedRecord(said.history_id, said.datetime, body)


def _decoded(raw: bytes) -> bytes:
    """Return a body unpacked and in UTF-8. Raises ValueError or zlib.error."""
    if raw.startswith(_PACKED):
        raw = zlib.decompressobj(wbits=31).decompress(raw, MAX_UNPACKED_BYTES)
    try:
        return raw.decode(json.detect_encoding(raw)).encode()
    except UnicodeDecodeError:
        return raw.decode(_OTHER_ENCODING).encode()


def _without_record(raw: bytes) -> ParsedRecord:
    return ParsedRecord(f"{UNNAMED_PREFIX}{hashlib.sha256(raw).hexdigest()}", None, {})


def to_log_record(notification: Notification) -> HistoryColumns | None:
    """What a notification says as a record of the log, marked as such; None when it names none."""
    item = _to_history(notification.body)
    try:
        read = histories.History.model_validate(item)
    except ValidationError:
        return None
    found = build_records([read], [item], notification.received_at)
    return found[0]._replace(notified=True) if found else None


def _to_history(body: Mapping[str, Any]) -> dict[str, Any]:
    """A notification in the shape of a log record; what the published description does not name stays as it came."""
    info = body.get("additional_info")
    more = dict(info) if isinstance(info, dict) else {}
    device = {name: body[told] for told, name in _DEVICE_FIELDS.items() if body.get(told)}
    member, units = more.pop("member", None), more.pop("units", None)
    item = {name: value for name, value in body.items() if name not in (*_MESSAGE_FIELDS, *_DEVICE_FIELDS)}
    item |= {"_content": body.get("event_name")} if body.get("event_name") else {}
    item |= {"member": member} if isinstance(member, dict) else {}
    item |= {"device": device | ({"units": units} if isinstance(units, list) else {})} if device else {}
    return item | ({"additional_info": more} if more else {})
