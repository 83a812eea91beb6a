"""Taking notifications in: the request puts them into memory and is answered; one thread writes them to PostgreSQL.

What is lost here (a process killed, a queue overrun) costs a hint and no record: the log is read by itself as well
(docs/decisions/0060-notifications-are-hints.md). Of a queue that is full the oldest bodies go, and the fact stays that
the tenant was told something.
"""

import atexit
import threading
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, Value
from django.db.models.functions import Greatest, Least

from accessapi.webhook_format import WebhookFormat as Shape
from portal.core.mirror.fields.values import as_json
from portal.core.timers import task_queue
from portal.core.timers.clock import ClockTime
from portal.webhooks import parsing
from portal.webhooks.models import Webhook
from tenants.scope import tenant_scope

log = structlog.get_logger(__name__)
PROCESS_TASK = "portal.webhooks.tasks.process"

# What one process holds in memory at most.
MAX_MESSAGES, MAX_BYTES = 20_000, 32 * 1024 * 1024
BATCH_SIZE = 500
# A moment in which more may come, so that a burst is few statements.
GATHER_SECONDS = 0.05
# How long the writer may take to write what is left when its process ends: gunicorn is given 5 s for all of it.
EXIT_SECONDS = 3.0

_INSERT = """
INSERT INTO hooks_notification (tenant_id, history_id, delivery_id, at, body, received_at, state)
SELECT %s, t.*, clock_timestamp(), 'waiting'
FROM unnest(%s::text[], %s::text[], %s::timestamptz[], %s::jsonb[]) AS t
ON CONFLICT (tenant_id, history_id) DO NOTHING
"""

# Two looks at what a tenant was told are this far apart.
MIN_INTERVAL = timedelta(seconds=0.5)
_NEXT_RUN = ExpressionWrapper(F("looked_at") + Value(MIN_INTERVAL), output_field=DateTimeField())


class ReceivedMessage(NamedTuple):
    """A notification that was signed rightly, as it came."""

    tenant_id: int
    body: bytes
    delivery_id: str
    message_format: Shape = Shape()


class MessageQueue:
    """The queue of one process and its writer."""

    def __init__(self) -> None:
        self._queue: deque[ReceivedMessage] = deque()
        self._bytes = 0
        self._tenants_without_body: set[int] = set()  # tenants of whom bodies were dropped
        self._change = threading.Condition()
        self._writer: threading.Thread | None = None
        self._ending = False

    def put(self, waiting: ReceivedMessage) -> None:
        """Take a notification; it is written soon."""
        with self._change:
            self._queue.append(waiting)
            self._bytes += len(waiting.body)
            self._drop_oldest()
            self._start_writer()
            self._change.notify_all()

    def flush(self) -> None:
        """Write what waits, in the calling thread."""
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
        """Keep what could not be written, within bounds."""
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
        """Let the writer write what is left, for a moment: the process ends."""
        with self._change:
            self._ending = True
            self._change.notify_all()
        if self._writer is not None:
            self._writer.join(EXIT_SECONDS)


def write(batch: Sequence[ReceivedMessage], without_body: set[int]) -> None:
    """Write notifications, a statement for a tenant, and ring once for each. `without_body`: tenants told without a
    body."""
    by_tenant: defaultdict[int, dict[str, tuple[Any, ...]]] = defaultdict(dict)
    for each in batch:
        rows = by_tenant[each.tenant_id]
        for said in parsing.parse(each.body, each.message_format):
            rows.setdefault(said.history_id, (said.history_id, each.delivery_id, said.at, said.body))
    for tenant_id in sorted(by_tenant.keys() | without_body):
        with tenant_scope(tenant_id):
            ordered = [row for _, row in sorted(by_tenant[tenant_id].items())]
            _write(tenant_id, ordered, was_dropped=tenant_id in without_body)


def _write(tenant_id: int, rows: list[tuple[Any, ...]], *, was_dropped: bool) -> None:
    """Write one tenant's; what the database does not take (a fault of ours) is something that it was told."""
    try:
        due = _write_rows(tenant_id, rows, was_dropped=was_dropped)
    except (OperationalError, InterfaceError):
        raise
    except DatabaseError:
        log.exception("hooks_not_stored", tenant_id=tenant_id, rows=len(rows))
        due = _write_rows(tenant_id, [], was_dropped=True)
    if due:
        task_queue.enqueue(PROCESS_TASK, [(tenant_id,)])


def _write_rows(tenant_id: int, rows: list[tuple[Any, ...]], *, was_dropped: bool) -> bool:
    """Write them and set the timer. Whether it is time to look at once, and nobody was told to."""
    with transaction.atomic():
        new = _insert(tenant_id, rows) if rows else 0
        heard = {"heard_at": ClockTime()} if new or was_dropped else {}
        heard |= {"told_at": ClockTime()} if was_dropped else {}
        if not heard:
            return False
        rung = Webhook.objects.filter(due_at__lte=ClockTime()).exists()
        Webhook.objects.update(**heard, due_at=Least(F("due_at"), Greatest(ClockTime(), _NEXT_RUN)))
        return not rung and Webhook.objects.filter(due_at__lte=ClockTime()).exists()


def _insert(tenant_id: int, rows: list[tuple[Any, ...]]) -> int:
    names, deliveries, moments, bodies = (list(each) for each in zip(*rows, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [tenant_id, names, deliveries, moments, list(map(as_json, bodies))])
        return int(cursor.rowcount)


queue = MessageQueue()
