"""What happens by itself as time passes. Everything is computed from what the database holds and the clock.

`advance` brings a tenant up to this moment before anybody looks, so a restart changes nothing and two processes
agree.
"""

from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, Protocol

from django.db.models import Exists, Q, QuerySet

from sandbox import clock
from sandbox.engine import bulk, faces, guests, keys
from sandbox.engine.desk import locked
from sandbox.service.models import Tenant


class Step(Protocol):
    """A module of the engine: what of the tenant is due, and doing it (inside `locked`)."""

    def due(self, tenant: Tenant, now: datetime, /) -> QuerySet[Any]: ...

    def advance(self, tenant: Tenant, now: datetime, /) -> None: ...


#: In the order in which they come about.
STEPS: tuple[Step, ...] = (bulk, faces, guests, keys)


def advance(tenant: Tenant) -> None:
    """Works through what is due."""
    now = clock.now()
    # One question for all of them: every call of the interface asks it.
    anything = reduce(or_, (Q(Exists(step.due(tenant, now).order_by())) for step in STEPS))
    if not Tenant.objects.filter(anything, pk=tenant.pk).exists():
        return
    with locked(tenant):
        for step in STEPS:
            step.advance(tenant, now)
