"""Celery: its configuration, tasks, their queues, and the broker.

Four queues by urgency, JSON only, one message at a time. Redis only wakes workers. Messages carry ids only: all data of
a task is in PostgreSQL. If the broker loses a message, a timer (`portal.base.timers`) finds the row and sends it again.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import structlog
from celery import Celery, Task
from celery.exceptions import Ignore
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string
from kombu import Queue
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from accessapi.stack_memory import with_stack_memory
from tenants.scope import tenant_scope

log = structlog.get_logger(__name__)

NO_EVICTION = "noeviction"


def broker_client(seconds: float = 1.0) -> Redis:
    """Return a client with this timeout. Its calls raise RedisError or OSError on failure."""
    return Redis.from_url(settings.REDIS_URL, retry=None, socket_timeout=seconds, socket_connect_timeout=seconds)


def is_broker_available() -> bool:
    """Check whether the broker answers, within a short time."""
    try:
        with broker_client(0.5) as broker:
            return bool(broker.ping())
    except (RedisError, OSError):
        return False


def broker_eviction_policy() -> str:
    """Return what the broker removes when its memory is full. Raises RedisError or OSError if it is not available."""
    with broker_client() as broker:
        answer: Any = broker.info("memory")
    return str(answer.get("maxmemory_policy", NO_EVICTION))


QUEUES = ("doors", "interactive", "bulk", "sync")
# How long a web request waits once for a broker that does not answer, and the pause between later checks.
SEND_SECONDS = 0.2
PING_SECONDS = 1.0

app = Celery("portal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    task_queues=[Queue(name, routing_key=name) for name in QUEUES],  # type: ignore[no-untyped-call]  # nor has Kombu
    task_create_missing_queues=False,
    task_default_queue="interactive",
    task_serializer="json",
    accept_content=["json"],
    result_backend=None,
    task_ignore_result=True,
    task_store_errors_even_if_ignored=False,
    worker_consumer="portal.base.timers.worker:PatientConsumer",
    worker_prefetch_multiplier=1,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_track_started=False,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options={
        "visibility_timeout": 300,
        "unacked_restore_interval": 2,
        "unacked_restore_throttle": 1,
        "socket_timeout": 3,
        "socket_connect_timeout": 3,
        "retry_on_timeout": False,
        "health_check_interval": 10,
        # If the broker refuses the connection, the sender gets the error at once.
        "max_retries": 1,
        "interval_start": 0.1,
        "interval_max": 0.1,
    },
    # A web request sends a message once. If the broker is down, the timers find the work.
    task_publish_retry=False,
    enable_utc=True,
    timezone="Asia/Tokyo",
    beat_scheduler="portal.base.timers.beat:Clock",
    beat_schedule={},  # filled by modules that register timers (`portal.base.timers.timer_registry`)
)


# Conditions that stop all tasks, for example after a restored backup. Their work is enqueued again later.
STOP_CONDITIONS: list[Callable[[], bool]] = []


class PortalTask(Task):  # type: ignore[misc]  # Celery has no types
    """A task with a queue. It takes ids only. Several deliveries have the effect of one, because the row decides."""

    abstract = True
    Request = "portal.base.timers.worker:PatientRequest"
    queue: str

    @with_stack_memory
    def __call__(self, *args: Any, **options: Any) -> Any:
        if any(stops() for stops in STOP_CONDITIONS):
            raise Ignore
        return super().__call__(*args, **options)

    def apply_async(self, *args: Any, **options: Any) -> Any:
        """Send the task once. Raises OperationalError if the broker is down; at once if that is already known."""
        if breaker.is_open:
            raise OperationalError("the broker was away a moment ago")
        try:
            return super().apply_async(*args, **options)
        except (OperationalError, RedisError, OSError):
            breaker.trip()
            raise


class TenantTask(PortalTask):
    """A task for one tenant. Its first id is the tenant's; the function gets the others and runs in its scope."""

    abstract = True
    # Celery would compare the ids with the function's arguments, which have no tenant.
    typing = False

    def __call__(self, tenant_id: int, *ids: int) -> Any:
        with tenant_scope(tenant_id):
            return super().__call__(*ids)


class CircuitBreaker:
    """Remembers that the broker is down, so that in each process at most one caller waits for it.

    A separate thread asks the broker until it answers again. No other thread asks it during that time.
    """

    def __init__(self) -> None:
        self.is_open = False
        self._lock = threading.Lock()

    def trip(self) -> None:
        """Treat the broker as down until it answers."""
        with self._lock:
            if not self.is_open:
                self.is_open = True
                threading.Thread(target=self._wait_for_broker, name="breaker", daemon=True).start()

    def _wait_for_broker(self) -> None:
        while not is_broker_available():
            time.sleep(PING_SECONDS)
        self.is_open = False


breaker = CircuitBreaker()


def limit_broker_wait() -> None:
    """Limit this process's wait for the broker, because a person waits for the answer.

    For processes without a worker.
    """
    app.conf.broker_transport_options |= {"socket_timeout": SEND_SECONDS, "socket_connect_timeout": SEND_SECONDS}


Declare = Callable[[Callable[..., None]], PortalTask]


def tenant_task(*, queue: str, seconds: int = 60, name: str | None = None) -> Declare:
    """Declare a task for one tenant, with its queue and time limit (soft; the hard limit is 10 seconds later)."""
    return _declare(TenantTask, queue, seconds, name)


def declare(name: str, step: Callable[..., object], *, queue: str, seconds: int = 60, is_per_row: bool = False) -> None:
    """Declare the task of this name that calls `step` in its tenant's scope, with the id of a row if `is_per_row`."""

    def of_tenant() -> None:
        step()

    def of_row(row_id: int) -> None:
        step(row_id)

    tenant_task(queue=queue, seconds=seconds, name=name)(of_row if is_per_row else of_tenant)


def clock_task(*, queue: str, seconds: int, name: str) -> Declare:
    """Declare a task that looks for due work of all tenants. A lost message does no harm: the clock sends another."""
    return _declare(PortalTask, queue, seconds, name)


def _declare(base: type[PortalTask], queue: str, seconds: int, name: str | None) -> Declare:
    declare: Declare = app.task(
        base=base,
        **({"name": name} if name else {}),
        queue=queue,
        acks_late=True,
        soft_time_limit=seconds,
        time_limit=seconds + 10,
    )
    return declare


EXPIRES_SECONDS = 60


def enqueue(
    task: str, rows: Sequence[tuple[int, ...]], *, queue: str | None = None, expires: float = EXPIRES_SECONDS
) -> None:
    """Send the task of this name once for each row of ids. Stop if the broker does not answer."""
    wake: PortalTask = app.tasks.get(task) or import_string(task)
    options = {"expires": expires} | ({"queue": queue} if queue else {})
    try:
        if len(rows) == 1:
            wake.apply_async(rows[0], **options)
        elif rows:
            with app.producer_or_acquire() as producer:
                for ids in rows:
                    wake.apply_async(ids, producer=producer, **options)
    except (OperationalError, RedisError, OSError) as error:
        log.warning("task_not_enqueued", task=task, rows=len(rows), error=type(error).__name__)


def enqueue_after_commit(task: str, *ids: int, expires: float = EXPIRES_SECONDS) -> None:
    """Send the task after commit, when workers can see what was written."""
    transaction.on_commit(lambda: enqueue(task, [ids], expires=expires))


app.autodiscover_tasks()
