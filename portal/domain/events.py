"""The kinds of data that are read from the service, and listeners that are called when a reading is stored.

Listeners are called inside the transaction that stores the reading. When a listener raises an error, only its own
changes are undone and the error is logged; the reading is kept. So a listener must be able to catch up from the tables
at the next reading.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import structlog
from django.db import transaction
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from tenants.models import Tenant


class MirrorKind(TextChoices):
    """A kind of mirrored data with its own freshness. `RIGHTS` is read in the background, with single reads."""

    MEMBERS = "members", _("Members")
    GROUPS = "groups", _("Groups")
    AREAS = "areas", _("Areas")
    PASS_CONTROLLERS = "pass_controllers", _("Doors")
    KEY_BOXES = "key_boxes", _("Key boxes")
    GUESTS = "guests", _("Guests")
    HISTORIES = "histories", _("Activity log")
    TENANT = "tenant", _("Tenant")
    RIGHTS = "rights", _("Permissions")


# Groups come first, because the list of members shows their names. Histories come last, because their first reading
# waits for everything else; later readings do not (`sync/tasks.py`).
SYNCED_KINDS = (
    MirrorKind.GROUPS,
    MirrorKind.MEMBERS,
    MirrorKind.AREAS,
    MirrorKind.PASS_CONTROLLERS,
    MirrorKind.KEY_BOXES,
    MirrorKind.GUESTS,
    MirrorKind.TENANT,
    MirrorKind.HISTORIES,
)

# Seconds between two complete readings. Lists and rights may use 180 calls an hour. A tenant with 2,000 members and
# 1,000 guests needs about 27: 12 for guests, 8 for members, 4 for groups, 3 for the small lists.
# The log needs another 30.
READ_INTERVALS = {
    MirrorKind.MEMBERS: 15 * 60,
    MirrorKind.GROUPS: 15 * 60,
    MirrorKind.AREAS: 60 * 60,
    MirrorKind.PASS_CONTROLLERS: 60 * 60,
    MirrorKind.KEY_BOXES: 60 * 60,
    MirrorKind.GUESTS: 5 * 60,
    MirrorKind.HISTORIES: 2 * 60,
    MirrorKind.TENANT: 24 * 60 * 60,
    MirrorKind.RIGHTS: 150,
}


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
