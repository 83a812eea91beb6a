"""Probes: whether this process is running, and whether it and the services it needs can work.

They need no sign-in and show no personal data. A tenant that cannot be loaded does not make the site unready; the
platform page and `/metrics` report it.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse

from portal.base.timers import broker, leader_lease
from portal.base.timers.celery_app import QUEUES, app
from portal.base.timers.clock import database_now
from tenants import key_rotation
from tenants.database_grants import check_site_role

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
    last = leader_lease.last_tick()
    return None if last is None else round((database_now() - last).total_seconds(), 1)


def _broker() -> str:
    policy = broker.broker_eviction_policy()
    return "" if policy == broker.NO_EVICTION else f"It removes what waits there when its memory is full ({policy})."


def _workers() -> str:
    """Check that each queue has a worker. Answers are read one by one, because two workers may have the same name."""
    with app.connection_for_write(transport_options={"socket_timeout": 3}) as patient:
        answers = app.control.broadcast("active_queues", reply=True, timeout=1, connection=patient) or []
    heard = {queue["name"] for answer in answers for queues in answer.values() for queue in queues}
    missing = ", ".join(queue for queue in QUEUES if queue not in heard)
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
