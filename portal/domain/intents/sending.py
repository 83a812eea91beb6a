"""Claim an intent and send it once, after everything that may have changed was checked again."""

import threading
import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any

import structlog
from django.conf import settings
from django.db import connection as database
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from accessapi import errors
from accessapi.client import Image
from accessapi.operations import Body, Delivery, Operation
from portal.base.timers.clock import ClockTime, database_now
from portal.base.timers.database_identity import is_unchecked_copy
from portal.domain.budget import ledger
from portal.domain.budget.client import client_for_counted_call
from portal.domain.budget.gauges import CountedCall
from portal.domain.budget.priorities import Priority
from portal.domain.intents import transitions
from portal.domain.intents.models import WRITE_SECONDS, Attachment, Intent, Reason, State
from portal.domain.intents.transitions import Transition, settle_unsent
from tenants.connections.service_clients import current_connection
from tenants.models import Connection
from tenants.permission_conditions import holds_permission
from tenants.postgresql import session_locks
from tenants.postgresql.compiled_queries import CompiledQuery

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ClaimedIntent:
    """An intent that this process, and no other, may send once."""

    intent: Intent
    connection: Connection
    operation: Operation
    token: uuid.UUID
    session: Any  # the database session whose lock proves the claim is active (see `tenants.postgresql.session_locks`)
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
    Intent.objects.filter(pk=intent.pk, state=State.QUEUED).update(due_at=until, reason=reason, woken_at=None)


_slots = threading.BoundedSemaphore(settings.INLINE_SENDS)


class TooLate(errors.NotSent):
    """Raised between connecting and writing the first byte when the deadline has passed: nothing is written."""


class Withdrawn(errors.NotSent):
    """Raised at the same point when the requester has lost the permission."""


class Stale(errors.NotSent):
    """Raised at the same point when the claim may be lost: after a long pause or without its database session."""


def send(intent: Intent) -> Intent:
    """Claim the intent, send it and record the answer. Return its row. Safe to call any number of times."""
    claimed = claim(intent)
    if claimed is not None:
        try:
            transitions.record_sent(intent, claimed.token, send_claimed(claimed))
        finally:
            session_locks.release(claimed.token)
    intent.refresh_from_db()
    return intent


def send_inline(intent: Intent) -> bool:
    """Send from a web request if one of the process's few slots is free, and return whether it did.

    The limit prevents a slow service from blocking all web requests.
    """
    if not _slots.acquire(blocking=False):
        return False
    try:
        send(intent)
    finally:
        _slots.release()
    return True


def send_claimed(claimed: ClaimedIntent) -> Transition:
    """Send one request and return the meaning of its answer.

    Never raises: after an unexpected error the outcome is uncertain.
    """
    intent, operation = claimed.intent, claimed.operation
    try:
        with client_for_counted_call(claimed.connection, claimed.counted_call) as client:
            answer = client.call(
                intent.operation,
                path=intent.path,
                body=_image(intent) if operation.body is Body.IMAGE else intent.body,
                fresh=intent.is_physical,
                before_write=partial(_check_before_write, claimed),
            )
        return transitions.from_answer(answer, follows=operation.request_type is not None)
    except Withdrawn:
        return Transition(State.CANCELLED, Reason.RIGHTS)
    except errors.ServiceError as error:
        if claimed.is_late() and isinstance(error, errors.NotSent):
            return Transition(State.EXPIRED, Reason.TOO_LATE)
        return transitions.from_error(
            error,
            delivery=operation.delivery,
            attempts=intent.attempts,
            deletes=operation.is_deletion,
            reads=operation.must_read_back,
        )
    except Exception:
        log.exception("sending_broke", intent_id=intent.pk, operation=intent.operation)
        return Transition(State.UNCERTAIN, Reason.PROCESS)


def _check_before_write(claimed: ClaimedIntent) -> None:
    """Check once more, on the open connection, that the request may be sent. Raises a NotSent."""
    if not claimed.is_permitted():
        raise Withdrawn("rights_withdrawn")
    # Check the clock last: the database query may have taken long. It also proved that the session exists.
    if claimed.is_late():
        raise TooLate("too_late")
    if claimed.is_stale():
        raise Stale("claim_too_old")


def _image(intent: Intent) -> Image | None:
    """Return the image to send. None, which no such operation accepts, once it is deleted."""
    attachment = Attachment.objects.filter(intent=intent).first()
    return Image(attachment.content, attachment.content_type) if attachment else None
