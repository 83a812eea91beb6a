"""Who wants to hear when the mirror learned something: called inside the transaction that takes a reading over.

What a listener raises is logged and undone alone; the reading stands. So a listener must be able to catch up from the
mirror itself, at the next reading.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import structlog
from django.db import transaction

from portal.core.mirror.kinds import MirrorKind
from tenants.models import Tenant

log = structlog.get_logger(__name__)

Listener = Callable[..., Any]
_listeners: dict[MirrorKind, list[Listener]] = defaultdict(list)


def subscribe(kind: MirrorKind, listener: Listener) -> None:
    """Have `listener(tenant)` called, in the tenant's scope, whenever a reading of `kind` was taken over.

    For a list: after it was replaced, also when nothing changed. For histories: `listener(tenant, histories=[…])` with
    the rows that are new. For RIGHTS: `listener(tenant, members=[…])` with the rows (pk set) whose permissions were
    just stored, by a single read or by our own writing. Register from `AppConfig.ready()`; twice is once.
    """
    if listener not in _listeners[kind]:
        _listeners[kind].append(listener)


def has_subscribers(kind: MirrorKind) -> bool:
    """Whether anybody listens."""
    return bool(_listeners[kind])


def publish(kind: MirrorKind, tenant: Tenant, **more: Any) -> None:
    """Call the listeners of a kind, each in a savepoint of its own."""
    for listener in _listeners[kind]:
        try:
            with transaction.atomic():
                listener(tenant, **more)
        except Exception:
            name = f"{listener.__module__}.{listener.__qualname__}"
            log.exception("mirror_listener_failed", kind=str(kind), listener=name)
