"""Claim an intent for sending: one conditional UPDATE that checks again everything that may have changed."""

import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.db import connection as database
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from accessapi.operations import Delivery, Operation
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.database_identity import is_unchecked_copy
from portal.domain.budget import ledger
from portal.domain.budget.priorities import Priority
from portal.domain.budget.rate_headers import CountedCall
from portal.domain.intents.applying import settle_unsent
from portal.domain.intents.models import Intent
from portal.domain.intents.states import WRITE_SECONDS, Reason, State
from tenants import session_locks
from tenants.compiled_queries import CompiledQuery
from tenants.connections.service_clients import current_connection
from tenants.models import Connection
from tenants.permission_conditions import holds_permission


@dataclass(frozen=True)
class ClaimedIntent:
    """An intent that this process, and no other, may send once."""

    intent: Intent
    connection: Connection
    operation: Operation
    token: uuid.UUID
    session: Any  # the database session whose lock proves the claim is active (see `tenants.session_locks`)
    counted_call: CountedCall | None  # the counted API call
    # On this process's monotonic clock: the deadline, and how long the claim surely belongs to this process.
    expires: float | None
    write_by: float

    def is_late(self) -> bool:
        return self.expires is not None and time.monotonic() >= self.expires

    def is_stale(self) -> bool:
        """Return whether this claim may be settled by the sweep soon.

        True after a long pause of this process, or when its database session was lost.
        """
        return time.monotonic() >= self.write_by or database.connection is not self.session

    def is_permitted(self) -> bool:
        """Return whether the requester still has the permission, as the database has it now."""
        return bool(_still_permitted(self.intent.permission).rows(intent=self.intent.pk))


class _NotClaimable(Exception):
    """Raised to roll back the counted call."""


def claim(intent: Intent) -> ClaimedIntent | None:
    """Claim a queued intent that is due, and count its API call.

    Return None when it is not to be sent now; the intent's row then has the reason.
    """
    connection = current_connection()
    if connection.pk is None:
        _record_not_claimed(intent, connection)
        return None
    operation = connection.tenant.environment.catalogue.find(intent.operation)
    mark = uuid.uuid4()
    try:
        with transaction.atomic(durable=True):
            taken = ledger.count_call_in_transaction(connection, operation, Priority(intent.priority))
            started = time.monotonic()
            now = ClockTime()
            if not _claimable(intent, operation).update(
                state=State.SENDING,
                claim=mark,
                claimed_at=now,
                sent_at=now,
                attempts=F("attempts") + 1,
                due_at=None,
            ):
                raise _NotClaimable
            # The session lock must exist before the claim is committed and visible to others.
            intent.refresh_from_db(from_queryset=Intent.objects.annotate(held=session_locks.TakeLock(mark)))
            expires = _expiry(intent, started)
    except ledger.BudgetExhausted as exhausted:
        _postpone(intent, exhausted.check_again_at, Reason.BUDGET)
        return None
    except _NotClaimable:
        _record_not_claimed(intent, connection)
        return None
    return ClaimedIntent(
        intent, connection, operation, mark, database.connection, taken, expires, started + WRITE_SECONDS
    )


@cache
def _still_permitted(permission: str) -> CompiledQuery[Intent]:
    return CompiledQuery(
        lambda intent: Intent.objects.filter(_permitted(permission), pk=intent).only("pk")[:1], intent=0
    )


def _permitted(permission: str) -> Q:
    return holds_permission(permission, user="by_id", tenant="tenant_id")


def _claimable(intent: Intent, operation: Operation) -> QuerySet[Intent]:
    rows = Intent.objects.filter(~is_unchecked_copy(), pk=intent.pk, state=State.QUEUED, due_at__lte=ClockTime())
    rows = rows.filter(Q(deadline__isnull=True) | Q(deadline__gt=ClockTime()))
    rows = rows.filter(_permitted(intent.permission))
    connected = Connection.objects.filter(tenant=OuterRef("tenant_id"), state=Connection.State.CONNECTED)
    if operation.needs_licence:
        connected = connected.exclude(licence_key__isnull=True)
    rows = rows.filter(Exists(connected))
    if intent.is_lock:
        rows = rows.filter(~Exists(_newer(intent)))
    elif intent.delivery == Delivery.SET and intent.target:
        rows = rows.filter(~Exists(_unfinished_before(intent)))
    return rows


def _newer(intent: Intent) -> QuerySet[Intent]:
    return Intent.objects.filter(target=intent.target, pk__gt=intent.pk)


def _unfinished_before(intent: Intent) -> QuerySet[Intent]:
    """Return unfinished earlier changes to the same object.

    They are sent in the order of the requests, so that repeating one never overwrites a newer one.
    """
    return Intent.objects.filter(
        target=intent.target, pk__lt=intent.pk, state__in=[State.QUEUED, State.SENDING], delivery=Delivery.SET
    )


def _expiry(intent: Intent, started: float) -> float | None:
    if intent.deadline is None or intent.claimed_at is None:
        return None
    return started + (intent.deadline - intent.claimed_at).total_seconds()


def _record_not_claimed(intent: Intent, connection: Connection) -> None:
    """Write why an intent was not claimed, unless another process has it or it is not due."""
    intent.refresh_from_db()
    now = database_now()
    if intent.state != State.QUEUED or intent.due_at is None or intent.due_at > now:
        return None
    if intent.deadline is not None and intent.deadline <= now:
        return settle_unsent(intent, State.EXPIRED, Reason.TOO_LATE)
    if not Intent.objects.filter(_permitted(intent.permission), pk=intent.pk).exists():
        return settle_unsent(intent, State.CANCELLED, Reason.RIGHTS)
    if not connection.is_connected:
        if intent.priority == Priority.JOBS:
            return _postpone(intent, now + timedelta(seconds=30), Reason.CONNECTION)
        return settle_unsent(intent, State.CANCELLED, Reason.CONNECTION)
    if intent.is_lock and _newer(intent).exists():
        return settle_unsent(intent, State.CANCELLED, Reason.NEWER)
    if connection.tenant.environment.catalogue.find(intent.operation).needs_licence and not connection.licence_key:
        return settle_unsent(intent, State.CANCELLED, Reason.LICENCE)
    return _postpone(intent, now + timedelta(seconds=1), Reason.NONE)


def _postpone(intent: Intent, until: datetime, reason: Reason) -> None:
    Intent.objects.filter(pk=intent.pk, state=State.QUEUED).update(due_at=until, reason=reason, rung_at=None)
