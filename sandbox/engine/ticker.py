"""What moves without anybody looking: notifications leave, keys return, people come and go.

Two threads of each `serve` process look every now and then, one for notifications, one for the rest. Everything is in
the database and locked there, so any number of processes share the work, and one that ends leaves it to the others.
"""

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Min

from sandbox import behaviour
from sandbox.engine import posting, reset_lock, simulation, steps
from sandbox.service.models import BulkRequest, FaceRequest, KeyUse, Tenant

#: Seconds between two looks at notifications, and at everything else.
_POSTS, _REST = 0.2, 1.0
#: A receiver that takes longer than this many seconds has to wait for the threads of the slow ones.
_SLOW = 0.5
_QUICK_THREADS, _SLOW_THREADS = 6, 4

log = logging.getLogger(__name__)


class Postmen:
    """Threads that post, one for a tenant at a time; slow receivers hold up nobody but each other."""

    def __init__(self) -> None:
        self._busy: dict[str, threading.Thread] = {}
        self._slow: set[str] = set()

    def send(self, tenant_id: str) -> None:
        """Has posted what is due, unless somebody is at it or no thread is free: then the next look finds it again."""
        self._busy = {known: thread for known, thread in self._busy.items() if thread.is_alive()}
        is_slow = tenant_id in self._slow
        rivals = sum((known in self._slow) is is_slow for known in self._busy)
        if tenant_id in self._busy or rivals >= (_SLOW_THREADS if is_slow else _QUICK_THREADS):
            return
        thread = threading.Thread(target=self._post, args=(tenant_id,), name=f"post {tenant_id}", daemon=True)
        self._busy[tenant_id] = thread
        thread.start()

    def _post(self, tenant_id: str) -> None:
        try:
            was_quick = posting.post_due(tenant_id, patience=_SLOW)
            (self._slow.discard if was_quick else self._slow.add)(tenant_id)
        except Exception:
            log.exception("notifications of %s failed", tenant_id)
        finally:
            connection.close()


def start(worker: object) -> None:
    """Begins to look, in threads that end with the process (a hook of gunicorn, which gives its worker)."""
    postmen = Postmen()
    for name, seconds, work in (("posts", _POSTS, lambda: look(postmen)), ("ticker", _REST, bring_forward)):
        threading.Thread(target=_repeat, args=(seconds, work), name=name, daemon=True).start()


def _repeat(seconds: float, work: Callable[[], None]) -> None:
    while True:
        try:
            work()
        except Exception:
            # The database may be away for a while, as in a restart; nothing is lost meanwhile.
            log.exception("a look failed")
            connection.close()
            time.sleep(_REST)
        time.sleep(seconds)


def look(postmen: Postmen) -> None:
    """Sends the postmen where something is due by the tenant's own clock."""
    if waiting := posting.waiting():
        clocks = behaviour.clocks()
        for tenant_id, due_at in waiting:
            if due_at <= clocks.now(tenant_id):
                postmen.send(tenant_id)


def bring_forward() -> None:
    """Does what is due in every tenant, and lets its people come and go. Whom somebody else is at is left to them."""
    clocks = behaviour.clocks()
    for tenant_id, due_at in _due(clocks.latest()):
        if due_at <= clocks.now(tenant_id):
            _advance(tenant_id)
    for tenant_id, per_hour in simulation.due(clocks):
        simulation.simulate(tenant_id, per_hour)


def _due(latest: datetime) -> list[tuple[str, datetime]]:
    """The tenants in which something waits for a moment up to `latest`, and the first such moment."""
    bulk = BulkRequest.objects.filter(finished_at=None).values_list("tenant_id").annotate(first=Min("at"))
    faces = FaceRequest.objects.filter(status="progress", due_at__lte=latest)
    keys = KeyUse.objects.filter(returned_at=None, due_at__lte=latest, box__has_power=True)
    found = bulk.union(
        faces.values_list("tenant_id").annotate(first=Min("due_at")),
        keys.values_list("box__tenant_id").annotate(first=Min("due_at")),
    )
    return list(found)


def _advance(tenant_id: str) -> None:
    with behaviour.clock_of(tenant_id), transaction.atomic():
        if not reset_lock.may_move():
            return
        tenant = Tenant.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=tenant_id).first()
        if tenant is not None:
            steps.advance(tenant)
