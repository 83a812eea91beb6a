"""Send messages to people by e-mail and to web addresses, each at most once (decision 93).

A sender registers its `MessageKind`. It saves messages in the transaction of their cause, so that none is lost. A
worker claims a message before sending it. If the worker dies, the message is uncertain and is not sent again.
Permissions are checked, and the text is written, when the message is sent.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import override

from portal.base.timers import celery_app
from portal.base.timers.clock import ClockTime, scaled_pause, scaled_seconds
from portal.base.timers.timer_registry import Process, due, retry_after
from portal.domain.notifications import mailing
from portal.domain.notifications.mailing import DeliveryOutcome
from portal.domain.notifications.models import NO_PERMISSION, RESTORED, OutgoingMessage, State, WebAddress
from portal.domain.notifications.posting import post
from tenants.access import Access, access_to
from tenants.models import current_tenant
from tenants.scope import current_tenant_id

# The timer starts the tasks for further messages.
_MAX_WAKES = 50
# A try takes less time. After this time its process has crashed.
LEASE = timedelta(seconds=90)
# The pauses after tries that certainly did not arrive. Further tries have the last one.
RETRY_PAUSES = tuple(timedelta(seconds=each) for each in (10, 60, 300, 1800, 7200))
_WAKE_AGAIN = scaled_pause(30)
# About a week, for messages that are still of use then.
ATTEMPTS_IN_A_WEEK = 90


@dataclass(frozen=True)
class MessageText:
    """The text of a message. A web address gets only the title and the link to the page."""

    title: str
    body: str = ""


@dataclass(frozen=True, kw_only=True)
class MessageKind:
    """What a sender's messages are about, and how they are written.

    `route` is the page of the row with the ID `subject`. `may_receive` is called for people, not for web addresses.
    `write` gets None as access for a web address, whose readers are unknown, so it names no people. It returns None if
    there is no reason left for the message. `test_text` is a test for a web address. After `max_attempts` there is no
    further try.
    """

    name: str
    route: str
    may_receive: Callable[[int, Access], bool]
    write: Callable[[int, Access | None], MessageText | None]
    test_text: Promise
    max_attempts: int = len(RETRY_PAUSES) + 1


_kinds: dict[str, MessageKind] = {}


def register(kind: MessageKind) -> None:
    """Register a kind of messages. Call it from `signals.py`."""
    _kinds[kind.name] = kind


def kind_of(message: OutgoingMessage) -> MessageKind:
    """Return the registered kind of a message."""
    return _kinds[message.kind]


def page_url(route: str, subject: int) -> str:
    """Return the absolute address of a row's page."""
    return settings.PORTAL_URL + reverse(route, args=[current_tenant().slug, subject])


def messages_about(subject: int, *kinds: str) -> QuerySet[OutgoingMessage]:
    """Return the messages of these kinds about a row, with their recipients."""
    rows = OutgoingMessage.objects.filter(kind__in=kinds, subject=subject)
    return rows.select_related("user", "address").order_by("pk")


def queue(messages: Iterable[OutgoingMessage]) -> list[OutgoingMessage]:
    """Save messages that their recipients have not got yet, and start their tasks after commit. Return the new ones.

    Call it in the transaction of their cause. A constraint refuses the messages if another process saves the same.
    """
    rows = list(messages)
    about = OutgoingMessage.objects.filter(
        kind__in={each.kind for each in rows}, subject__in={each.subject for each in rows}
    )
    known = set(about.values_list("kind", "subject", "user_id", "address_id"))
    new = [each for each in rows if (each.kind, each.subject, each.user_id, each.address_id) not in known]
    _wake_after_commit([each.pk for each in OutgoingMessage.objects.bulk_create(new) if each.state == State.WAITING])
    return new


def _wake_after_commit(pks: Sequence[int]) -> None:
    tenant = current_tenant_id()
    calls = [(tenant, each) for each in pks[:_MAX_WAKES]]
    transaction.on_commit(lambda: celery_app.enqueue(OUTBOX.task, calls))


def as_restored(message: OutgoingMessage) -> OutgoingMessage:
    """Return a new message as one that may have been sent before the data was restored from a backup."""
    for name, value in _restored_values().items():
        setattr(message, name, value)
    return message


def _restored_values() -> dict[str, Any]:
    return {"state": State.UNCERTAIN, "due_at": None, "ended_at": ClockTime(), "answer": RESTORED}


def mark_restored(found_at: datetime) -> int:
    """Mark unfinished messages of a restored database as uncertain, because they may have been sent since."""
    return OutgoingMessage.objects.filter(state__in=[State.WAITING, State.SENDING]).update(**_restored_values())


def delete_messages(subjects: Collection[int], *kinds: str) -> None:
    """Delete the messages about rows that are deleted, or whose messages are to be sent again."""
    OutgoingMessage.objects.filter(kind__in=kinds, subject__in=subjects).delete()


def send(pk: int) -> None:
    """Send a message if it is due. If an earlier sender crashed, mark it as uncertain instead."""
    _mark_abandoned(pk)
    # In one transaction: until the text is written, a crash leaves the message waiting, and it cannot be deleted.
    with transaction.atomic():
        message = _claim(pk)
        deliver = _prepare(message) if message is not None else None
    if message is not None and deliver is not None:
        _save_outcome(message, deliver())


def _mark_abandoned(pk: int) -> None:
    """Mark as uncertain what was claimed and not finished in time."""
    dead = OutgoingMessage.objects.filter(pk=pk, state=State.SENDING, claimed_at__lt=ClockTime() - LEASE)
    dead.update(state=State.UNCERTAIN, due_at=None, ended_at=ClockTime(), answer="")


def _claim(pk: int) -> OutgoingMessage | None:
    """Claim a message for this process. Return None if it is claimed, finished or not due yet."""
    free = OutgoingMessage.objects.filter(pk=pk, state=State.WAITING, not_before__lte=ClockTime())
    now = ClockTime()
    if not free.update(state=State.SENDING, claimed_at=now, due_at=now + LEASE, attempts=F("attempts") + 1):
        return None
    return OutgoingMessage.objects.select_related("user", "address").get(pk=pk)


def _prepare(message: OutgoingMessage) -> Callable[[], DeliveryOutcome] | None:
    """Return the function that sends a claimed message. Without a reason for the message, delete it and return None."""
    deliver = _prepare_post(message, message.address) if message.address else _prepare_mail(message)
    if deliver is None:
        message.delete()
    return deliver


def _prepare_mail(message: OutgoingMessage) -> Callable[[], DeliveryOutcome] | None:
    """Write a mail in the person's language."""
    kind, tenant, user, subject = kind_of(message), current_tenant(), message.user, message.subject
    access = access_to(user, tenant) if user is not None else None
    if subject is None or access is None or access.support_session or not kind.may_receive(subject, access):
        return lambda: DeliveryOutcome.failed(NO_PERMISSION)
    with override(access.user.language or settings.LANGUAGE_CODE):
        text = kind.write(subject, access)
    if text is None:
        return None
    headers = {"Auto-Submitted": "auto-generated", "X-Message": f"{kind.name}.{subject}.{message.pk}"}
    to = [access.user.email]
    return partial(mailing.send, EmailMessage(f"[{tenant.name}] {text.title}", text.body, None, to, headers=headers))


def _prepare_post(message: OutgoingMessage, address: WebAddress) -> Callable[[], DeliveryOutcome] | None:
    """Write a post in the language of the web address."""
    kind, tenant, subject = kind_of(message), current_tenant(), message.subject
    with override(address.language):
        if subject is None:
            return partial(post, address, str(kind.test_text) % {"tenant": tenant.name}, message)
        text = kind.write(subject, None)
    if text is None:
        return None
    return partial(post, address, f"[{tenant.name}] {text.title}\n{page_url(kind.route, subject)}", message)


def _save_outcome(message: OutgoingMessage, outcome: DeliveryOutcome) -> None:
    """Save the result of a try, even if the message was marked as uncertain in the meantime."""
    row = OutgoingMessage.objects.filter(pk=message.pk, attempts=message.attempts)
    if outcome.should_retry and message.attempts < kind_of(message).max_attempts:
        at = ClockTime() + RETRY_PAUSES[min(message.attempts, len(RETRY_PAUSES)) - 1]
        row.filter(state=State.SENDING).update(state=State.WAITING, not_before=at, due_at=at, answer=outcome.answer)
    else:
        row.update(state=outcome.state, due_at=None, ended_at=ClockTime(), answer=outcome.answer)


OUTBOX = Process(
    name="outbox",
    rows=due(OutgoingMessage),
    step=send,
    queue="sync",
    every=scaled_seconds(2),
    claim_values=retry_after(_WAKE_AGAIN),
)
