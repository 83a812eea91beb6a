"""Listeners that are called when the mirror stores a reading, inside the same transaction.

When a listener raises an error, only its own changes are undone and the error is logged; the reading is kept. So a
listener must be able to catch up from the mirror at the next reading.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import structlog
from django.db import transaction

from portal.domain.mirror.kinds import MirrorKind
from tenants.models import Tenant

log = structlog.get_logger(__name__)

Listener = Callable[..., Any]
_listeners: dict[MirrorKind, list[Listener]] = defaultdict(list)


def subscribe(kind: MirrorKind, listener: Listener) -> None:
    """Register `listener(tenant)`, to be called in the tenant's scope after each stored reading of `kind`.

    For a list: after each reading, also when nothing changed. For histories: `listener(tenant, histories=[…])` with
    the new rows. For RIGHTS: `listener(tenant, members=[…])` with the rows (pk set) whose permissions were just stored,
    by a single read or by our own write. Register from `signals.py`; registering twice has no effect.
    """
    if listener not in _listeners[kind]:
        _listeners[kind].append(listener)


def has_subscribers(kind: MirrorKind) -> bool:
    """Return whether a kind has listeners."""
    return bool(_listeners[kind])


def publish(kind: MirrorKind, tenant: Tenant, **more: Any) -> None:
    """Call the listeners of a kind, each in a separate savepoint."""
    for listener in _listeners[kind]:
        try:
            with transaction.atomic():
                listener(tenant, **more)
        except Exception:
            name = f"{listener.__module__}.{listener.__qualname__}"
            log.exception("mirror_listener_failed", kind=str(kind), listener=name)
