"""Parse notifications into `WebhookMessage` fields. No content raises an error.

The body's format is published but not specified, and an overrides file may change it. A body that cannot be read still
counts as a hint and is identified by its digest.
"""

import hashlib
import json
import zlib
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from accessapi.reading import read_json
from accessapi.resources import histories
from accessapi.webhook_format import WebhookFormat
from portal.domain.mirror.log_rows import remove_secrets

# The prefix of history_id for notifications that name no record.
UNNAMED_PREFIX = "sha256 "
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


def parse_message(raw: bytes, shape: WebhookFormat) -> Iterator[ParsedRecord]:
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
