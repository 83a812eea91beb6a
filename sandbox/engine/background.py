"""Do due work in the background: post notifications, return keys, simulate people.

Two threads of each `serve` process check regularly, one for notifications, one for the rest. Everything is in the
database and locked there. So any number of processes share the work, and others continue if one ends.
"""

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Min
from django.db.models.signals import post_save

from sandbox import behaviour
from sandbox.engine import bulk, posting, reset_lock, simulation, steps
from sandbox.service.models import Delivery, FaceRequest, KeyUse, Tenant

#: Seconds between two checks while notifications wait, and otherwise. This process's own notifications are posted after
#: a short delay, in which more may be queued.
_POST_PAUSE, _IDLE_PAUSE, _COLLECT_SECONDS = 0.2, 1.0, 0.05
#: Tenants whose receiver takes longer than this many seconds use the threads for slow ones.
_SLOW_SECONDS = 0.5
_QUICK_THREADS, _SLOW_THREADS = 6, 4

log = logging.getLogger(__name__)


class PostingThreads:
    """Threads that post, one per tenant at a time; slow receivers delay only each other."""

    def __init__(self) -> None:
        self._busy: dict[str, threading.Thread] = {}
        self._slow: set[str] = set()

    def send(self, tenant_id: str) -> None:
        """Start a thread that posts due notifications.

        If one runs for this tenant or none is free, the next check tries again.
        """
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
            was_quick = posting.post_due(tenant_id, timeout=_SLOW_SECONDS)
            (self._slow.discard if was_quick else self._slow.add)(tenant_id)
        except Exception:
            log.exception("notifications of %s failed", tenant_id)
        finally:
            connection.close()


def start(worker: object) -> None:
    """Start the threads, which end with the process (a hook of gunicorn, which passes its worker)."""
    posters, queued = PostingThreads(), threading.Event()

    def on_delivery(*, created: bool, **_: object) -> None:
        if created:
            transaction.on_commit(queued.set)

    post_save.connect(on_delivery, sender=Delivery, weak=False)
    for name, work, called in (
        ("posts", lambda: post_waiting(posters), queued),
        ("ticker", advance_all, threading.Event()),
    ):
        threading.Thread(target=_repeat, args=(work, called), name=name, daemon=True).start()


def _repeat(work: Callable[[], float], wake: threading.Event) -> None:
    """Repeat the work: after the pause that it returns, in seconds, or soon after `wake` is set."""
    while True:
        wake.clear()
        try:
            pause = work()
        except Exception:
            # The database may be away for a while, as in a restart; nothing is lost.
            log.exception("a look failed")
            connection.close()
            pause = _IDLE_PAUSE
        if wake.wait(pause):
            time.sleep(_COLLECT_SECONDS)


def post_waiting(posters: PostingThreads) -> float:
    """Start posting for tenants with due notifications, by their own clock. Return the seconds until the next check."""
    if waiting := posting.find_due():
        clocks = behaviour.load_clocks()
        for tenant_id, due_at in waiting:
            if due_at <= clocks.now(tenant_id):
                posters.send(tenant_id)
    return _POST_PAUSE if waiting else _IDLE_PAUSE


def advance_all() -> float:
    """Do due work in every tenant, and simulate its people. Return the seconds until the next check.

    Tenants on which another process works are skipped.
    """
    clocks = behaviour.load_clocks()
    for tenant_id, due_at in _due(clocks.latest()):
        if due_at <= clocks.now(tenant_id):
            _advance(tenant_id)
    for tenant_id, per_hour in simulation.due(clocks):
        simulation.simulate(tenant_id, per_hour)
    return _IDLE_PAUSE


def _due(latest: datetime) -> list[tuple[str, datetime]]:
    """Return the tenants with due work up to `latest`, and the first due time."""
    faces = FaceRequest.objects.filter(status="progress", due_at__lte=latest)
    keys = KeyUse.objects.filter(returned_at=None, due_at__lte=latest, box__has_power=True)
    found = bulk.next_due_times().union(
        faces.values_list("tenant_id").annotate(first=Min("due_at")),
        keys.values_list("box__tenant_id").annotate(first=Min("due_at")),
    )
    return list(found)


def _advance(tenant_id: str) -> None:
    with behaviour.using_clock_of(tenant_id), transaction.atomic():
        if not reset_lock.acquire_shared():
            return
        tenant = Tenant.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=tenant_id).first()
        if tenant is not None:
            steps.advance(tenant)
