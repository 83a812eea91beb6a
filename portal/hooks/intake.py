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

from accessapi.notifications import Webhook as Shape
from portal.core.mirror.fields.values import as_json
from portal.core.timers import bell
from portal.core.timers.clock import ClockTime
from portal.hooks import told
from portal.hooks.models import Webhook
from tenants.scope import tenant_scope

log = structlog.get_logger(__name__)
LOOK = "portal.hooks.tasks.look"

# What one process holds in memory at most.
MOST, MOST_BYTES = 20_000, 32 * 1024 * 1024
BATCH = 500
# A moment in which more may come, so that a burst is few statements.
GATHER = 0.05
# How long the writer may take to write what is left when its process ends: gunicorn is given 5 s for all of it.
AT_EXIT = 3.0

_INSERT = """
INSERT INTO hooks_notification (tenant_id, history_id, delivery_id, at, body, received_at, state)
SELECT %s, t.*, clock_timestamp(), 'waiting'
FROM unnest(%s::text[], %s::text[], %s::timestamptz[], %s::jsonb[]) AS t
ON CONFLICT (tenant_id, history_id) DO NOTHING
"""

# Two looks at what a tenant was told are this far apart.
APART = timedelta(seconds=0.5)
_NEXT_LOOK = ExpressionWrapper(F("looked_at") + Value(APART), output_field=DateTimeField())


class Waiting(NamedTuple):
    """A notification that was signed rightly, as it came."""

    tenant_id: int
    body: bytes
    delivery_id: str
    shape: Shape = Shape()


class Intake:
    """The queue of one process and its writer."""

    def __init__(self) -> None:
        self._queue: deque[Waiting] = deque()
        self._bytes = 0
        self._told: set[int] = set()  # tenants of whom bodies were dropped
        self._change = threading.Condition()
        self._writer: threading.Thread | None = None
        self._ending = False

    def put(self, waiting: Waiting) -> None:
        """Take a notification; it is written soon."""
        with self._change:
            self._queue.append(waiting)
            self._bytes += len(waiting.body)
            self._drop()
            self._start()
            self._change.notify_all()

    def flush(self) -> None:
        """Write what waits, in the calling thread."""
        while True:
            with self._change:
                batch = [self._queue.popleft() for _ in range(min(BATCH, len(self._queue)))]
                self._bytes -= sum(len(each.body) for each in batch)
                unnamed, self._told = self._told, set()
            if not batch and not unnamed:
                return
            try:
                write(batch, unnamed)
            except DatabaseError:
                self._take_back(batch, unnamed)
                raise

    def _take_back(self, batch: Sequence[Waiting], unnamed: set[int]) -> None:
        """Keep what could not be written, within bounds."""
        with self._change:
            self._queue.extendleft(reversed(batch))
            self._bytes += sum(len(each.body) for each in batch)
            self._told |= unnamed
            self._drop()

    def _drop(self) -> None:
        while len(self._queue) > MOST or self._bytes > MOST_BYTES:
            gone = self._queue.popleft()
            self._bytes -= len(gone.body)
            self._told.add(gone.tenant_id)

    def _start(self) -> None:
        if self._writer is None or not self._writer.is_alive():
            self._writer = threading.Thread(target=self._write_on, name="hook writer", daemon=True)
            self._writer.start()
            atexit.register(self.end)

    def _write_on(self) -> None:
        while not self._ending or self._queue:
            with self._change:
                self._change.wait_for(lambda: self._queue or self._told or self._ending)
            with self._change:
                self._change.wait_for(lambda: self._ending, GATHER)
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
            self._writer.join(AT_EXIT)


def write(batch: Sequence[Waiting], unnamed: set[int]) -> None:
    """Write notifications, a statement for a tenant, and ring once for each. `unnamed`: tenants told without a body."""
    by_tenant: defaultdict[int, dict[str, tuple[Any, ...]]] = defaultdict(dict)
    for each in batch:
        rows = by_tenant[each.tenant_id]
        for said in told.read(each.body, each.shape):
            rows.setdefault(said.history_id, (said.history_id, each.delivery_id, said.at, said.body))
    for tenant_id in sorted(by_tenant.keys() | unnamed):
        with tenant_scope(tenant_id):
            ordered = [row for _, row in sorted(by_tenant[tenant_id].items())]
            _write(tenant_id, ordered, something=tenant_id in unnamed)


def _write(tenant_id: int, rows: list[tuple[Any, ...]], *, something: bool) -> None:
    """Write one tenant's; what the database does not take (a fault of ours) is something that it was told."""
    try:
        due = _written(tenant_id, rows, something=something)
    except (OperationalError, InterfaceError):
        raise
    except DatabaseError:
        log.exception("hooks_not_stored", tenant_id=tenant_id, rows=len(rows))
        due = _written(tenant_id, [], something=True)
    if due:
        bell.ring(LOOK, [(tenant_id,)])


def _written(tenant_id: int, rows: list[tuple[Any, ...]], *, something: bool) -> bool:
    """Write them and set the timer. Whether it is time to look at once, and nobody was told to."""
    with transaction.atomic():
        new = _insert(tenant_id, rows) if rows else 0
        heard = {"heard_at": ClockTime()} if new or something else {}
        heard |= {"told_at": ClockTime()} if something else {}
        if not heard:
            return False
        rung = Webhook.objects.filter(due_at__lte=ClockTime()).exists()
        Webhook.objects.update(**heard, due_at=Least(F("due_at"), Greatest(ClockTime(), _NEXT_LOOK)))
        return not rung and Webhook.objects.filter(due_at__lte=ClockTime()).exists()


def _insert(tenant_id: int, rows: list[tuple[Any, ...]]) -> int:
    names, deliveries, moments, bodies = (list(each) for each in zip(*rows, strict=True))
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [tenant_id, names, deliveries, moments, list(map(as_json, bodies))])
        return int(cursor.rowcount)


intake = Intake()
