"""Pages for what went wrong, and probes that tell whether the site is alive and can do its work.

A foreign thing and a missing one look exactly alike. Probes need no sign-in and tell no personal data.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from portal.core.mirror.freshness import first_sync_done_everywhere
from portal.site.celery import app, broker_answers
from tenants.checks import role_is_limited
from tenants.staff import record


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "403.html", {"reason": str(exception or "")}, status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "404.html", status=404)


def too_many(request: HttpRequest) -> HttpResponse:
    """A limit of allauth's pages was reached, which is written down."""
    record.throttled(request, request.user if request.user.is_authenticated else None)
    return render(request, "429.html", status=429)


def missing(request: HttpRequest) -> HttpResponse:
    """A page that a library brings and that this site does not have."""
    raise Http404


def broken(request: HttpRequest) -> HttpResponse:
    """Without context processors: whatever broke may break them too."""
    return HttpResponse(render_to_string("500.html"), status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", status=403)


@login_not_required
def alive(request: HttpRequest) -> HttpResponse:
    """200 as long as this process answers."""
    return HttpResponse("alive\n", content_type="text/plain")


@login_not_required
def ready(request: HttpRequest) -> JsonResponse:
    """200 once database, broker, workers and first sync are up; 503 with what is missing until then. The identifiers of
    warnings about the database's role (`tenants.checks`) come along, and make nothing less ready.

    Anybody may ask, and as often as they like: the answer is found out once in a few seconds and told to all.
    """
    found, warnings = _readiness.told()
    ready = all(found.values())
    return JsonResponse({"ready": ready, "checks": found, "warnings": warnings}, status=200 if ready else 503)


@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """Counters of this process, for Prometheus: to whoever brings the token of the settings, and to nobody without one.

    Where a request seems to come from is no proof: a proxy on the same machine lends its address to everybody.
    """
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not settings.METRICS_TOKEN or not constant_time_compare(given, settings.METRICS_TOKEN):
        return HttpResponse(status=404)
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)


class _Readiness:
    """What was found out last, for KEPT seconds. One thread at a time finds out; others are told what was before."""

    KEPT = 3.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[str, bool] = {}
        self._warnings: list[str] = []
        self._until = 0.0

    def told(self) -> tuple[dict[str, bool], list[str]]:
        if time.monotonic() < self._until or not self._lock.acquire(blocking=not self._found):
            return self._found, self._warnings
        try:
            if time.monotonic() >= self._until:
                self._found = _find_out()
                self._warnings = _warnings()
                self._until = time.monotonic() + self.KEPT
            return self._found, self._warnings
        finally:
            self._lock.release()


_readiness = _Readiness()


def _find_out() -> dict[str, bool]:
    checks: dict[str, Callable[[], bool]] = {
        "database": _database,
        "broker": broker_answers,
        "workers": _workers,
        "furnished": _furnished,
        "first sync": first_sync_done_everywhere,
    }
    found: dict[str, bool] = {}
    for name, check in checks.items():
        found[name] = _tried(check) if all(found.values()) else False
    return found


def _tried(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except Exception:
        return False


def _warnings() -> list[str]:
    try:
        return [str(each.id) for each in role_is_limited(databases=[connection.alias])]
    except DatabaseError:
        return []


def _database() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def _furnished() -> bool:
    return not (settings.PREPARING_FILE and Path(settings.PREPARING_FILE).exists())


def _workers() -> bool:
    """Each queue has somebody who listens to it."""
    with app.connection_for_write(transport_options={"socket_timeout": 3}) as patient:
        queues = app.control.inspect(timeout=1, connection=patient).active_queues() or {}
    heard = {queue["name"] for listening in queues.values() for queue in listening}
    return {"doors", "interactive", "bulk", "sync"} <= heard
