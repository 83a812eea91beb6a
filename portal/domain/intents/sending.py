"""Send intents: the one place that does, for pages, for workers and for a person who tries again."""

import threading
from functools import partial

import structlog
from django.conf import settings

from accessapi import errors
from accessapi.client import Image
from accessapi.operations import Body
from portal.domain.budget.client import client_for_counted_call
from portal.domain.intents import applying, transitions
from portal.domain.intents.claiming import ClaimedIntent, claim
from portal.domain.intents.models import Enclosure, Intent
from portal.domain.intents.states import Reason, State
from portal.domain.intents.transitions import Transition
from tenants import session_locks

log = structlog.get_logger(__name__)

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
            applying.record_sent(intent, claimed.token, send_claimed(claimed))
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
    enclosed = Enclosure.objects.filter(intent=intent).first()
    return Image(enclosed.content, enclosed.content_type) if enclosed else None
