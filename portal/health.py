"""Whether the site is alive, and whether it can do its work: for probes, without signing in, without personal data."""

from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from portal.celery import app
from portal.mirror.freshness import first_sync_done_everywhere


@login_not_required
def alive(request: HttpRequest) -> HttpResponse:
    """200 as long as this process answers."""
    return HttpResponse("alive\n", content_type="text/plain")


@login_not_required
def ready(request: HttpRequest) -> JsonResponse:
    """200 once database, broker, workers and first sync are up; 503 with what is missing until then."""
    checks: dict[str, Callable[[], bool]] = {
        "database": _database,
        "broker": _broker,
        "workers": _workers,
        "furnished": _furnished,
        "first sync": first_sync_done_everywhere,
    }
    found: dict[str, bool] = {}
    for name, check in checks.items():
        found[name] = _tried(check) if all(found.values()) else False
    ready = all(found.values())
    return JsonResponse({"ready": ready, "checks": found}, status=200 if ready else 503)


@login_not_required
def metrics(request: HttpRequest) -> HttpResponse:
    """Counters of this process, for Prometheus; served to the machine itself only."""
    if request.META.get("REMOTE_ADDR") not in ("127.0.0.1", "::1"):
        return HttpResponse(status=404)
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)


def _tried(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except Exception:
        return False


def _database() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def _furnished() -> bool:
    return not (settings.PREPARING_FILE and Path(settings.PREPARING_FILE).exists())


def _broker() -> bool:
    cache.set("readyz", 1, 10)
    return cache.get("readyz") == 1


def _workers() -> bool:
    """Each queue has somebody who listens to it."""
    queues = app.control.inspect(timeout=1).active_queues() or {}
    heard = {queue["name"] for listening in queues.values() for queue in listening}
    return {"doors", "interactive", "bulk", "sync"} <= heard
