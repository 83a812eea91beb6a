"""Monitoring: `/healthz` and `/readyz` for probes, and `/metrics` for Prometheus.

Probes report whether this process is running, and whether it and the services it needs can work. They need no sign-in
and show no personal data. A tenant that cannot be loaded does not make the site unready; the platform page and
`/metrics` report it.

`docs/metrics.md` lists the figures that operators need for alerts. Web processes count their answers in shared files
(prometheus-client's multiprocess mode). All else is read from PostgreSQL and the broker at each scrape, so that it is
the same in every process.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
    multiprocess,
)
from prometheus_client.core import GaugeMetricFamily
from redis.exceptions import RedisError

from portal.base.timers import beat, celery_app, timer_registry
from portal.base.timers.celery_app import QUEUES, app
from portal.base.timers.clock import database_now
from tenants import key_rotation
from tenants.postgresql.grants import check_site_role
from tenants.scope import across_tenants

# If a clock stops, a second one takes over within 10 s.
_CLOCK_SECONDS = 30.0


@login_not_required
def alive(request: HttpRequest) -> HttpResponse:
    """Return 200 while this process answers requests."""
    return HttpResponse("alive\n", content_type="text/plain")


@login_not_required
def ready(request: HttpRequest) -> JsonResponse:
    """Return 200 if all checks passed, else 503 with a sentence for each failed check.

    Anyone may call it, so results are cached for a few seconds. IDs of warnings about the database's role
    (`check_site_role`) are included and do not make the site unready.
    """
    found = _readiness.current()
    return JsonResponse({"ready": not found["failed"], **found}, status=503 if found["failed"] else 200)


class _Readiness:
    """The last results, kept for some seconds.

    One thread runs the checks at a time; others get the previous results.
    """

    CACHE_SECONDS = 3.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[str, Any] = {}
        self._until = 0.0

    def current(self) -> dict[str, Any]:
        if time.monotonic() < self._until or not self._lock.acquire(blocking=not self._found):
            return self._found
        try:
            if time.monotonic() >= self._until:
                self._found = _run_checks()
                self._until = time.monotonic() + self.CACHE_SECONDS
            return self._found
        finally:
            self._lock.release()


_readiness = _Readiness()


def _run_checks() -> dict[str, Any]:
    """Return the failed checks with their reasons. Checks whose requirement failed are left out."""
    failed: dict[str, str] = {}
    for name, (check, needs) in _CHECKS.items():
        if needs not in failed and (reason := _failure_of(check)):
            failed[name] = reason
    if "database" in failed:
        return {"failed": failed}
    return {"failed": failed, "last_tick_seconds": tick_age(), "warnings": _warnings()}


def _failure_of(check: Callable[[], str]) -> str:
    try:
        return check()
    except Exception as error:  # any error means that the site cannot work
        return f"It does not answer ({type(error).__name__})."


def _database() -> str:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return "Its tables are older than this version: run manage.py migrate." if waiting else ""


def _vault() -> str:
    wrong = ", ".join(key_rotation.wrong_keys())
    return f"VAULT_KEYS does not open what was sealed under these ids: {wrong}." if wrong else ""


def _clock() -> str:
    age = tick_age()
    if age is None:
        return "No clock has run yet: start celery beat."
    return f"The last tick was {age:.0f} s ago: start celery beat." if age > _CLOCK_SECONDS else ""


def tick_age() -> float | None:
    """Return the seconds since a clock's last tick, by the database's time; None if there was none."""
    last = beat.last_tick()
    return None if last is None else round((database_now() - last).total_seconds(), 1)


def _broker() -> str:
    policy = celery_app.broker_eviction_policy()
    return (
        "" if policy == celery_app.NO_EVICTION else f"It removes what waits there when its memory is full ({policy})."
    )


def _workers() -> str:
    """Check that each queue has a worker. Answers are read one by one, because two workers may have the same name."""
    with app.connection_for_write(transport_options={"socket_timeout": 3}) as broker_connection:
        answers = app.control.broadcast("active_queues", reply=True, timeout=1, connection=broker_connection) or []
    served = {queue["name"] for answer in answers for queues in answer.values() for queue in queues}
    missing = ", ".join(queue for queue in QUEUES if queue not in served)
    return f"No worker listens to: {missing}." if missing else ""


def _preparation() -> str:
    preparing = settings.PREPARING_FILE and Path(settings.PREPARING_FILE).exists()
    return "The site is still being prepared." if preparing else ""


# Each check with the check that it requires. If the required one fails, this one is skipped.
_CHECKS: dict[str, tuple[Callable[[], str], str]] = {
    "database": (_database, ""),
    "vault": (_vault, "database"),
    "clock": (_clock, "database"),
    "broker": (_broker, ""),
    "workers": (_workers, "broker"),
    "preparation": (_preparation, ""),
}


def _warnings() -> list[str]:
    return [str(each.id) for each in check_site_role(databases=[connection.alias])]


log = structlog.get_logger(__name__)

ANSWERS = Counter("portal_http_answers", "Answers to browsers and to the service's webhooks.", ["area", "status"])
SECONDS = Histogram("portal_http_seconds", "Seconds until an answer began.", ["area"])


def count_answers(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Count each answer by area of work. Labels are a small fixed set that no address can extend."""

    def middleware(request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = get_response(request)
        match = request.resolver_match
        area = (match.app_names[0] if match.app_names else match.url_name or "other") if match else "none"
        SECONDS.labels(area).observe(time.perf_counter() - began)
        ANSWERS.labels(area, response.status_code).inc()
        return response

    return middleware


@dataclass(frozen=True)
class GaugeQuery:
    """A gauge, its labels, and the SQL statement. Its rows are the labels' values and the number."""

    name: str
    text: str
    labels: tuple[str, ...]
    statement: str


# Each statement uses a partial index or a small table.
_GAUGE_QUERIES = (
    GaugeQuery(
        "portal_requests_open", "Requests to the service that have not ended or are uncertain.", ("state",),
        """SELECT state, count(*) FROM intents_intent
        WHERE state IN ('queued', 'sending', 'accepted', 'uncertain') GROUP BY state""",
    ),
    GaugeQuery(
        "portal_request_oldest_seconds", "Age of the oldest request that has not ended.", ("state",),
        """SELECT state, extract(epoch FROM clock_timestamp() - min(coalesce(claimed_at, created_at)))
        FROM intents_intent WHERE state IN ('queued', 'sending', 'accepted') GROUP BY state""",
    ),
    GaugeQuery(
        "portal_jobs_open", "Long jobs that have begun and not ended.", ("state",),
        "SELECT state, count(*) FROM jobs_job WHERE due_at IS NOT NULL GROUP BY state",
    ),
    GaugeQuery(
        "portal_calls_used", "Calls to the service that count against this hour's limits.", ("call_class",),
        """SELECT g.call_class, sum(s.counted) FROM budget_callcount s JOIN budget_gauge g ON g.id = s.gauge_id
        WHERE s.step >= (extract(epoch FROM clock_timestamp())::bigint - 3600) / 10 GROUP BY g.call_class""",
    ),
    GaugeQuery(
        "portal_calls_refused", "Calls that the service refused by 429, since each token began.", ("call_class",),
        "SELECT call_class, sum(refused) FROM budget_gauge GROUP BY call_class",
    ),
    GaugeQuery(
        "portal_tenants_blocked", "Tenants that must wait for calls to the service.", ("call_class",),
        """SELECT call_class, count(*) FROM budget_gauge WHERE blocked_until > clock_timestamp()
        GROUP BY call_class""",
    ),
    GaugeQuery(
        "portal_tenants", "Tenants by the state of their connection.", ("state",),
        "SELECT state, count(*) FROM tenants_connection GROUP BY state",
    ),
    GaugeQuery(
        "portal_tenants_never_loaded", "Connected tenants whose members were never read.", (),
        """SELECT count(*) FROM tenants_connection c WHERE c.state = 'connected' AND NOT EXISTS (
        SELECT FROM sync_mirrorstate m
        WHERE m.tenant_id = c.tenant_id AND m.kind = 'members' AND m.as_of IS NOT NULL)""",
    ),
    GaugeQuery(
        "portal_tenants_restored", "Tenants whose restored data waits for an owner.", (),
        "SELECT count(*) FROM restore_restore WHERE released_at IS NULL",
    ),
    GaugeQuery(
        "portal_sync_oldest_seconds", "Age of the oldest copy of a list among connected tenants.", ("kind",),
        """SELECT m.kind, extract(epoch FROM clock_timestamp() - min(m.as_of)) FROM sync_mirrorstate m
        JOIN tenants_connection c ON c.tenant_id = m.tenant_id AND c.state = 'connected'
        WHERE m.as_of IS NOT NULL GROUP BY m.kind""",
    ),
    GaugeQuery(
        "portal_sync_failing", "Lists of connected tenants that could not be read last.", ("kind",),
        """SELECT m.kind, count(*) FROM sync_mirrorstate m
        JOIN tenants_connection c ON c.tenant_id = m.tenant_id AND c.state = 'connected'
        WHERE m.error <> '' GROUP BY m.kind""",
    ),
    GaugeQuery(
        "portal_webhooks", "Webhooks of tenants, by how well they are heard.", ("state",),
        "SELECT working, count(*) FROM webhooks_webhook GROUP BY working",
    ),
    GaugeQuery(
        "portal_mails_waiting", "Mails and posts that wait for a worker or the next try.", ("kind",),
        """SELECT 'account', count(*) FROM tenants_accountmail
        UNION ALL SELECT kind, count(*) FROM notifications_outgoingmessage WHERE due_at IS NOT NULL GROUP BY kind""",
    ),
    GaugeQuery(
        "portal_mail_oldest_seconds", "Age of the oldest of them.", ("kind",),
        """SELECT 'account', extract(epoch FROM clock_timestamp() - min(written_at)) FROM tenants_accountmail
        UNION ALL SELECT kind, extract(epoch FROM clock_timestamp() - min(created_at))
        FROM notifications_outgoingmessage WHERE due_at IS NOT NULL GROUP BY kind""",
    ),
    GaugeQuery(
        "portal_mails_not_sent", "Mails and posts that were given up or are uncertain, in 24 hours.",
        ("state",),
        """SELECT state, count(*) FROM notifications_outgoingmessage WHERE state IN ('failed', 'uncertain')
        AND ended_at > clock_timestamp() - interval '24 hours' GROUP BY state""",
    ),
)  # fmt: skip


class SiteCollector:
    """A collector that reads figures from PostgreSQL and the broker for one scrape. Unavailable ones are left out."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        answered = True
        try:
            yield from self._database_gauges()
        except OperationalError as error:
            answered = False
            log.warning("metrics_not_read", error=type(error).__name__)
        yield _gauge("portal_database_answers", "Whether the figures of the database are here.", (), [(answered,)])
        try:
            lengths = _queue_lengths()
        except (RedisError, OSError):
            lengths = []
        yield _gauge("portal_queue_length", "Messages that wait for a worker.", ("queue",), lengths)
        yield _gauge("portal_broker_answers", "Whether the broker answers.", (), [(bool(lengths),)])

    def _database_gauges(self) -> Iterator[GaugeMetricFamily]:
        with across_tenants("operators count what is the case in all tenants"), connection.cursor() as cursor:
            for figure in _GAUGE_QUERIES:
                cursor.execute(figure.statement)
                yield _gauge(figure.name, figure.text, figure.labels, cursor.fetchall())
        lags = timer_registry.lags()
        rows = [(each.name, each.seconds) for each in lags]
        yield _gauge("portal_timer_lag_seconds", "How long work has been due that a timer looks for.", ("timer",), rows)
        if (age := tick_age()) is not None:
            yield _gauge("portal_clock_tick_seconds", "Seconds since the clock's last tick.", (), [(age,)])


def _gauge(name: str, text: str, labels: tuple[str, ...], rows: list[tuple[Any, ...]]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=labels)
    for *values, number in rows:
        family.add_metric([str(each) for each in values], float(number or 0))
    return family


def _queue_lengths() -> list[tuple[Any, ...]]:
    with celery_app.broker_client() as client:
        return [(queue, client.llen(queue)) for queue in QUEUES]


@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the site's figures for Prometheus. The token of the settings is required.

    The client's address is not accepted as proof: behind a proxy on the same machine all requests share its address.
    """
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not settings.METRICS_TOKEN or not constant_time_compare(given, settings.METRICS_TOKEN):
        return HttpResponse(status=404)
    registry: Any = CollectorRegistry(support_collectors_without_names=True)
    registry.register(SiteCollector())
    text = generate_latest(registry)
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library has no type here
    else:
        registry = REGISTRY
    return HttpResponse(text + generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
