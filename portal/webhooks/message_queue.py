"""Queue received notifications in memory; one thread parses them and writes them to PostgreSQL.

If messages are lost (the process is killed, the queue overflows), no record is lost: the log is also read regularly
(docs/decisions/0060-read-the-log-after-a-notification.md). If the queue is full, the oldest bodies are dropped, but it
stays known that the tenant was notified.

The body's format is published but not specified, and an overrides file may change it. No content raises an error: a
body that cannot be read still counts as a hint and is identified by its digest.
"""

import atexit
import hashlib
import json
import threading
import time
import zlib
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, Value
from django.db.models.functions import Greatest, Least

from accessapi.reading import read_json
from accessapi.resources import histories
from accessapi.webhook_format import WebhookFormat
from portal.base.timers import timer_registry
from portal.base.timers.clock import ClockTime
from portal.domain.history.records import remove_secrets
from portal.domain.people.fields import as_json
from portal.webhooks.models import Webhook
from tenants.scope import tenant_scope

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
            record = _parse_record(remove_secrets(body)) if found <= MAX_RECORDS else None
            is_whole &= record is not None
            if record is not None:
                yield record
    except (ValueError, zlib.error):  # includes all JSON and text errors
        is_whole = False
    if not is_whole or not found:
        yield _without_record(raw)


def _parse_record(body: Any) -> ParsedRecord | None:
    try:
        message = histories.WebhookMessage.model_validate(body)
    except ValueError:
        return None
    return ParsedRecord(message.history_id, message.datetime, body)


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


log = structlog.get_logger(__name__)

# The most that one process holds in memory.
MAX_MESSAGES, MAX_BYTES = 20_000, 32 * 1024 * 1024
BATCH_SIZE = 500
# The writer waits this long for more messages, so that a burst needs few statements.
GATHER_SECONDS = 0.05
# How long the writer may take when its process ends: gunicorn gives it 5 s in total.
EXIT_SECONDS = 3.0

_INSERT = """
INSERT INTO webhooks_notification (tenant_id, history_id, delivery_id, at, body, received_at, state)
SELECT %s, t.*, clock_timestamp(), 'waiting'
FROM unnest(%s::text[], %s::text[], %s::timestamptz[], %s::jsonb[]) AS t
ON CONFLICT (tenant_id, history_id) DO NOTHING
"""

# The pause between two runs for the same tenant.
MIN_INTERVAL = timedelta(seconds=0.5)
_NEXT_RUN = ExpressionWrapper(F("last_run_at") + Value(MIN_INTERVAL), output_field=DateTimeField())


class ReceivedMessage(NamedTuple):
    """A notification with a valid signature, as received."""

    tenant_id: int
    body: bytes
    delivery_id: str
    message_format: WebhookFormat = WebhookFormat()


class MessageQueue:
    """The queue of one process with its writer thread."""

    def __init__(self) -> None:
        self._queue: deque[ReceivedMessage] = deque()
        self._bytes = 0
        self._tenants_without_body: set[int] = set()  # tenants whose bodies were dropped
        self._change = threading.Condition()
        self._writer: threading.Thread | None = None
        self._ending = False

    def put(self, waiting: ReceivedMessage) -> None:
        """Add a notification to the queue."""
        with self._change:
            self._queue.append(waiting)
            self._bytes += len(waiting.body)
            self._drop_oldest()
            self._start_writer()
            self._change.notify_all()

    def flush(self) -> None:
        """Write all queued messages in the calling thread."""
        while True:
            with self._change:
                batch = [self._queue.popleft() for _ in range(min(BATCH_SIZE, len(self._queue)))]
                self._bytes -= sum(len(each.body) for each in batch)
                unnamed, self._tenants_without_body = self._tenants_without_body, set()
            if not batch and not unnamed:
                return
            try:
                write(batch, unnamed)
            except DatabaseError:
                self._requeue(batch, unnamed)
                raise

    def _requeue(self, batch: Sequence[ReceivedMessage], unnamed: set[int]) -> None:
        """Put messages that could not be written back into the queue, within its limits."""
        with self._change:
            self._queue.extendleft(reversed(batch))
            self._bytes += sum(len(each.body) for each in batch)
            self._tenants_without_body |= unnamed
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        while len(self._queue) > MAX_MESSAGES or self._bytes > MAX_BYTES:
            gone = self._queue.popleft()
            self._bytes -= len(gone.body)
            self._tenants_without_body.add(gone.tenant_id)

    def _start_writer(self) -> None:
        if self._writer is None or not self._writer.is_alive():
            self._writer = threading.Thread(target=self._write_forever, name="hook writer", daemon=True)
            self._writer.start()
            atexit.register(self.end)

    def _write_forever(self) -> None:
        while not self._ending or self._queue:
            with self._change:
                self._change.wait_for(lambda: self._queue or self._tenants_without_body or self._ending)
            with self._change:
                self._change.wait_for(lambda: self._ending, GATHER_SECONDS)
            try:
                self.flush()
            except DatabaseError as error:
                log.warning("hooks_not_written", waiting=len(self._queue), error=type(error).__name__)
                connection.close()
                time.sleep(0.5)

    def end(self) -> None:
        """Stop the writer when the process ends, and wait shortly for its last writes."""
        with self._change:
            self._ending = True
            self._change.notify_all()
        if self._writer is not None:
            self._writer.join(EXIT_SECONDS)


def write(batch: Sequence[ReceivedMessage], without_body: set[int]) -> None:
    """Write notifications with one statement per tenant, and enqueue one task for each tenant.

    `without_body`: tenants that were notified but whose bodies were dropped.
    """
    by_tenant: defaultdict[int, dict[str, tuple[Any, ...]]] = defaultdict(dict)
    for each in batch:
        rows = by_tenant[each.tenant_id]
        for record in parse_message(each.body, each.message_format):
            rows.setdefault(record.history_id, (record.history_id, each.delivery_id, record.at, record.body))
    for tenant_id in sorted(by_tenant.keys() | without_body):
        with tenant_scope(tenant_id):
            ordered = [row for _, row in sorted(by_tenant[tenant_id].items())]
            _write(tenant_id, ordered, was_dropped=tenant_id in without_body)


def _write(tenant_id: int, rows: list[tuple[Any, ...]], *, was_dropped: bool) -> None:
    """Write one tenant's messages. If the database refuses them (a bug of ours), record only that there were some."""
    try:
        due = _write_rows(tenant_id, rows, was_dropped=was_dropped)
    except (OperationalError, InterfaceError):
        raise
    except DatabaseError:
        log.exception("hooks_not_stored", tenant_id=tenant_id, rows=len(rows))
        due = _write_rows(tenant_id, [], was_dropped=True)
    if due:
        timer_registry.wake("webhooks", tenant_id)


def _write_rows(tenant_id: int, rows: list[tuple[Any, ...]], *, was_dropped: bool) -> bool:
    """Write messages and set the timer. Return whether a task must be enqueued now: due, and not enqueued before."""
    with transaction.atomic():
        new = _insert(tenant_id, rows) if rows else 0
        values = {"last_received_at": ClockTime()} if new or was_dropped else {}
        values |= {"lost_at": ClockTime()} if was_dropped else {}
        if not values:
            return False
        was_due = Webhook.objects.filter(due_at__lte=ClockTime()).exists()
        Webhook.objects.update(**values, due_at=Least(F("due_at"), Greatest(ClockTime(), _NEXT_RUN)))
        return not was_due and Webhook.objects.filter(due_at__lte=ClockTime()).exists()


def _insert(tenant_id: int, rows: list[tuple[Any, ...]]) -> int:
    names, deliveries, moments, bodies = (list(each) for each in zip(*rows, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [tenant_id, names, deliveries, moments, list(map(as_json, bodies))])
        return int(cursor.rowcount)


queue = MessageQueue()
