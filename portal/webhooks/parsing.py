"""Parse notifications into `WebhookMessage` fields and log records. No content raises an error.

The body's format is published but not specified, and an overrides file may change it. A body that cannot be read still
counts as a hint and is identified by its digest.
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
from portal.domain.mirror.log_rows import HistoryColumns, build_records, remove_secrets
from portal.webhooks.models import Notification

# Fields of a message that belong to the record's device; `_MESSAGE_FIELDS` are not part of the record.
_DEVICE_FIELDS = {"device_id": "id", "device_name": "name", "device_module": "module"}
# The prefix of history_id for notifications that name no record.
UNNAMED_PREFIX = "sha256 "
_MESSAGE_FIELDS = ("tenant_id", "event", "event_name", "additional_info")


# The most records that are read from a notification, and the most bytes that are unpacked.
MAX_RECORDS, MAX_UNPACKED_BYTES = 1_000, 1024 * 1024
_PACKED = b"\x1f\x8b"
# The encoding of bodies that are in none of JSON's encodings.
_OTHER_ENCODING = "cp932"


class ParsedRecord(NamedTuple):
    """A record that was read from a notification. `body` is {} if it names no record."""

    history_id: str
    at: datetime | None
    body: dict[str, Any]


def parse(raw: bytes, shape: WebhookFormat) -> Iterator[ParsedRecord]:
    """Yield the records in a notification's body, in the service's `shape`: one or several.

    Content without a record is yielded once, in addition to the records.
    """
    is_whole, found = True, 0
    try:
        for body in islice(shape.read_records(read_json(_decoded(raw))), MAX_RECORDS + 1):
            found += 1
            told = _parse_record(remove_secrets(body)) if found <= MAX_RECORDS else None
            is_whole &= told is not None
            if told is not None:
                yield told
    except (ValueError, zlib.error):  # includes all JSON and text errors
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
    """Return a notification as a log record marked `notified`; None if it names no record."""
    item = _to_history(notification.body)
    try:
        read = histories.History.model_validate(item)
    except ValidationError:
        return None
    found = build_records([read], [item], notification.received_at)
    return found[0]._replace(notified=True) if found else None


def _to_history(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notification in the format of a log record. Fields outside the published format are kept unchanged."""
    info = body.get("additional_info")
    more = dict(info) if isinstance(info, dict) else {}
    device = {name: body[told] for told, name in _DEVICE_FIELDS.items() if body.get(told)}
    member, units = more.pop("member", None), more.pop("units", None)
    item = {name: value for name, value in body.items() if name not in (*_MESSAGE_FIELDS, *_DEVICE_FIELDS)}
    item |= {"_content": body.get("event_name")} if body.get("event_name") else {}
    item |= {"member": member} if isinstance(member, dict) else {}
    item |= {"device": device | ({"units": units} if isinstance(units, list) else {})} if device else {}
    return item | ({"additional_info": more} if more else {})
