"""Start worker tasks. Messages carry ids only: if the broker loses one, a timer finds the row and sends it again."""

from collections.abc import Sequence

import structlog
from django.db import transaction
from django.utils.module_loading import import_string
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from portal.base.timers.celery_app import PortalTask, app

log = structlog.get_logger(__name__)
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
        log.warning("bell_not_heard", task=task, rows=len(rows), error=type(error).__name__)


def enqueue_after_commit(task: str, *ids: int, expires: float = EXPIRES_SECONDS) -> None:
    """Send the task after commit, when workers can see what was written."""
    transaction.on_commit(lambda: enqueue(task, [ids], expires=expires))
